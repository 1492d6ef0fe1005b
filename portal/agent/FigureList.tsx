import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { InTurn } from "../design/InTurn.tsx";
import { nodeUrl } from "../node/nodeUrl.ts";
import { type Agent, type Explained, explainedOf } from "./agentQuery.ts";
import { FigureValue } from "./FigureValue.tsx";
import { FIGURE_GROUPS, type Figure } from "./figures.ts";

/** Lists every figure. The reader can open each one to see how it was computed. */
export function FigureList({ agent }: { agent: Agent }) {
  return (
    <section class="card" aria-labelledby="figures">
      <div class="head">
        <h2 id="figures">Every figure</h2>
        <span class="soft">open a figure to see how it is computed</span>
      </div>
      <div class="groups">
        <InTurn>
          {FIGURE_GROUPS.map(({ title, figures }) => (
            <div key={title} class="figures">
              <h3 class="soft">{title}</h3>
              {figures.map((figure) => (
                <FigureDetails key={figure.field} agent={agent} figure={figure} />
              ))}
            </div>
          ))}
        </InTurn>
      </div>
    </section>
  );
}

function FigureDetails({ agent, figure }: { agent: Agent; figure: Figure }) {
  const explained = explainedOf(agent, figure.field);
  return (
    <details>
      <summary>
        <span>{figure.name}</span>
        <span class="value">
          <FigureValue figure={figure} value={explained.value} />
        </span>
        <Icon name="up" size={12} />
      </summary>
      <Why agent={agent} figure={figure} explained={explained} />
    </details>
  );
}

/** The most characters of an exact number that are shown. A sum over many hires can have hundreds of digits. */
const MAX_DIGITS = 800;

function Why(props: { agent: Agent; figure: Figure; explained: Explained }) {
  const { agent, figure, explained } = props;
  const { formula, source, cadence } = explained;
  const exact = (it: string | null) => (it === null ? null : plainText(it, MAX_DIGITS));
  const [numerator, denominator] = [exact(explained.numerator), exact(explained.denominator)];
  return (
    <div class="why">
      <p>{plainText(formula)}</p>
      <dl class="facts small">
        {numerator !== null && (
          <>
            <dt>{denominator === null ? "exactly" : "divided"}</dt>
            <dd class="mono">{denominator === null ? numerator : `${numerator} / ${denominator}`}</dd>
          </>
        )}
        <dt>made of</dt>
        <dd>{plainText(source.join(", "))}</dd>
        <dt>changes</dt>
        <dd>{plainText(cadence)}</dd>
        <dt>the rows</dt>
        <dd>
          <a href={rowsBehind(agent.address, figure.field)}>hires and ratings behind it, by GraphQL</a>
        </dd>
      </dl>
    </div>
  );
}

/** A link to GraphiQL with a query for the rows behind a figure. */
function rowsBehind(address: string, field: string): string {
  const query = `{
  agent(address: "${address}") {
    explain(field: ${field}) {
      value formula numerator denominator windowFrom
      hires(first: 50) { totalCount nodes { id time buyerAddress capability priceUsdc outcome evidence weight } }
      ratings(first: 50) { nodes { id stars rater weight time } }
    }
  }
}`;
  return `${nodeUrl}/graphql?query=${encodeURIComponent(query)}`;
}
