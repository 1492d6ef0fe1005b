/** A JSON Schema (draft 2020-12) that is an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * The TypeScript type of the values that a schema describes. So a schema and the type in a program always agree. It
 * understands `const`, `enum`, `type`, `items`, `properties`, `required` and `anyOf`; anything else is unknown.
 */
export type SchemaType<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Option)[] }
      ? SchemaType<Option>
      : Schema extends { readonly type: "string" }
        ? string
        : Schema extends { readonly type: "number" | "integer" }
          ? number
          : Schema extends { readonly type: "boolean" }
            ? boolean
            : Schema extends { readonly type: "null" }
              ? null
              : Schema extends { readonly type: "array"; readonly items: infer Item }
                ? SchemaType<Item>[]
                : Schema extends { readonly type: "object"; readonly properties: infer Properties }
                  ? ObjectType<Properties, RequiredOf<Schema>>
                  : Schema extends { readonly type: "object" }
                    ? { [key: string]: unknown }
                    : unknown;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type ObjectType<Properties, Required> = Flat<
  { [Key in keyof Properties as Key extends Required ? Key : never]: SchemaType<Properties[Key]> } & {
    [Key in keyof Properties as Key extends Required ? never : Key]?: SchemaType<Properties[Key]>;
  }
>;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
