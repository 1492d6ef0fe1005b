import { XMLParser, XMLValidator } from "fast-xml-parser";
import { JunitError } from "./junitError.ts";

/** How deep elements may nest: `describe` in `describe` becomes a testsuite in a testsuite. */
const MAX_DEPTH = 32;

/** An element of a document. Attributes are exactly as they are written, and entities are not replaced. */
export type XmlElement = {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
};

/** A node in the parser's form: the key `:@` has the attributes, and the only other key is the node's name. */
type Node = { [name: string]: unknown };

/**
 * Reads a document and returns its root. Nothing in it is expanded or fetched. A document type is refused,
 * because it can define entities. XML's own five entities are not replaced.
 *
 * @throws JunitError when the document is incomplete, nests too deeply, or has a document type
 */
export function parseXml(text: string, file: string): XmlElement {
  if (hasDocumentType(text)) {
    throw new JunitError(
      file,
      "has a document type, which no test runner writes and which may define entities",
    );
  }
  // The parser repairs faults silently. A report that was cut off must be refused, so it is validated first.
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw new JunitError(file, `is not a complete XML document (line ${valid.err.line})`);
  let nodes: Node[];
  try {
    nodes = new XMLParser({
      preserveOrder: true,
      ignoreAttributes: false,
      attributeNamePrefix: "",
      processEntities: false,
      parseTagValue: false,
      ignoreDeclaration: true,
      ignorePiTags: true,
      maxNestedTags: MAX_DEPTH,
    }).parse(text);
  } catch (cause) {
    throw new JunitError(file, `cannot be read: ${(cause as Error).message.slice(0, 200)}`);
  }
  const roots = elementsOf(nodes);
  const [root] = roots;
  if (root === undefined || roots.length > 1) throw new JunitError(file, "must have one root element");
  return root;
}

function elementsOf(nodes: Node[]): XmlElement[] {
  return nodes.flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ":@");
    if (name === undefined || name === "#text") return [];
    const attributes = new Map(Object.entries((node[":@"] ?? {}) as { [name: string]: string }));
    const children = node[name];
    return [{ name, attributes, children: Array.isArray(children) ? elementsOf(children) : [] }];
  });
}

/**
 * Whether a document type is in front of the root. A document type further down is harmless, because it is in text
 * that tests printed.
 */
function hasDocumentType(text: string): boolean {
  let at = 0;
  for (;;) {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
    const end = text.startsWith("<?", at) ? "?>" : text.startsWith("<!--", at) ? "-->" : undefined;
    if (end === undefined) return text.startsWith("<!", at);
    const found = text.indexOf(end, at);
    if (found < 0) return false;
    at = found + end.length;
  }
}
