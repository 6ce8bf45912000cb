import { formatCheck } from "../../schema/formats.ts";
import { goQuote } from "../../schema/go-text.ts";
import { fn, method, type Overload, SCAN } from "../functions.ts";
import { listOf, opaque, optionalOf, STRING } from "../types.ts";
import { NONE, Opaque, Optional } from "../values.ts";

const TYPE = opaque("kubernetes.NamedFormat");
const isUri = formatCheck("uri") as (text: string) => boolean;

/** A named way to write a string: `format.dns1123Label().validate(self)`. */
class NamedFormat extends Opaque {
  readonly typeName = "kubernetes.NamedFormat";
  readonly name: string;
  /** What is wrong with a string; nothing, when it is right. */
  readonly validate: (text: string) => string[];

  constructor(name: string, validate: (text: string) => string[]) {
    super();
    this.name = name;
    this.validate = validate;
  }

  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.name === this.name;
  }
}

function shaped(name: string, pattern: string, max: number, words: string): NamedFormat {
  const matcher = new RegExp(`^${pattern}$`);
  return new NamedFormat(name, (text) => {
    const faults: string[] = [];
    if (text.length > max) faults.push(`must be no more than ${max} bytes`);
    if (!matcher.test(text)) faults.push(`${words}, regex used for validation is '${pattern}')`);
    return faults;
  });
}

function checked(name: string, format: string, fault: string): NamedFormat {
  const check = formatCheck(format) as (text: string) => boolean;
  return new NamedFormat(name, (text) => (check(text) ? [] : [fault]));
}

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc'";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com'";
const LABEL_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123'";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_WORDS =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc'";
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345'";

/** Prefixes of names may end in a dash: what follows is generated. */
function prefix(name: string, of: NamedFormat): NamedFormat {
  return new NamedFormat(name, (text) => of.validate(text.replace(/-$/, "a")));
}

const label = shaped("dns1123Label", LABEL, 63, LABEL_WORDS);
const subdomain = shaped("dns1123Subdomain", SUBDOMAIN, 253, SUBDOMAIN_WORDS);
const label1035 = shaped("dns1035Label", LABEL_1035, 63, LABEL_1035_WORDS);
const name = shaped("qualifiedName", QUALIFIED, 63, QUALIFIED_WORDS);

const qualifiedName = new NamedFormat("qualifiedName", (text) => {
  const parts = text.split("/");
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const faults =
    parts.length === 2 ? subdomain.validate(parts[0] as string).map((fault) => `prefix part ${fault}`) : [];
  if (parts.at(-1) === "") faults.push("name part must be non-empty");
  return [...faults, ...name.validate(parts.at(-1) as string)];
});

const FORMATS = new Map(
  [
    label,
    subdomain,
    label1035,
    qualifiedName,
    prefix("dns1123LabelPrefix", label),
    prefix("dns1123SubdomainPrefix", subdomain),
    prefix("dns1035LabelPrefix", label1035),
    shaped("labelValue", `(${QUALIFIED})?`, 63, VALUE_WORDS),
    new NamedFormat("uri", (text) =>
      isUri(text) ? [] : [`parse ${goQuote(text)}: invalid URI for request`],
    ),
    checked("uuid", "uuid", "does not match the UUID format"),
    checked("byte", "byte", "invalid base64"),
    checked("date", "date", "invalid date"),
    checked("datetime", "datetime", "invalid datetime"),
  ].map((format) => [format.name, format] as const),
);

export const NAMED_FORMATS: readonly Overload[] = [
  fn("format.named", [STRING], optionalOf(TYPE), (text: string) => {
    const found = FORMATS.get(text);
    return found === undefined ? NONE : new Optional(found);
  }),
  ...[...FORMATS].map(([key, format]) => fn(`format.${key}`, [], TYPE, () => format)),
  method(
    "validate",
    [TYPE, STRING],
    optionalOf(listOf(STRING)),
    (format: NamedFormat, text: string) => {
      const faults = format.validate(text);
      return faults.length === 0 ? NONE : new Optional(faults);
    },
    { cost: SCAN.cost as (...sizes: number[]) => number },
  ),
];
