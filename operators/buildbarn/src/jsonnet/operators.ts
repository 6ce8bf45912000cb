import { format } from "./format.ts";
import { JsonnetError, type Location } from "./location.ts";
import { textOf } from "./text.ts";
import { ArrayValue, byCodePoint, FunctionValue, ObjectValue, typeOf, type Value } from "./values.ts";

/** `+`: numbers, text with anything, arrays, objects. */
export function add(left: Value, right: Value, at: Location): Value {
  if (typeof left === "string" || typeof right === "string") return textOf(left, at) + textOf(right, at);
  if (typeof left === "number" && typeof right === "number") return finite(left + right, at);
  if (left instanceof ArrayValue && right instanceof ArrayValue)
    return new ArrayValue([...left.items, ...right.items]);
  if (left instanceof ObjectValue && right instanceof ObjectValue) return left.with(right);
  throw new JsonnetError(at, `${typeOf(left)} and ${typeOf(right)} cannot be added`);
}

/** The operators on numbers, and `%` with a format. */
export function arithmetic(operator: string, left: Value, right: Value, at: Location): Value {
  if (operator === "%" && typeof left === "string") return format(left, right, at);
  if (typeof left !== "number" || typeof right !== "number")
    throw new JsonnetError(at, `${operator} needs two numbers, not a ${typeOf(left)} and a ${typeOf(right)}`);
  if ((operator === "/" || operator === "%") && right === 0) throw new JsonnetError(at, "division by zero");
  switch (operator) {
    case "-":
      return finite(left - right, at);
    case "*":
      return finite(left * right, at);
    case "/":
      return finite(left / right, at);
    case "%":
      return left % right;
    case "&":
      return Number(BigInt.asIntN(64, BigInt(left) & BigInt(right)));
    case "|":
      return Number(BigInt.asIntN(64, BigInt(left) | BigInt(right)));
    case "^":
      return Number(BigInt.asIntN(64, BigInt(left) ^ BigInt(right)));
    case "<<":
      return Number(BigInt.asIntN(64, BigInt(left) << BigInt(right % 64)));
    case ">>":
      return Number(BigInt(left) >> BigInt(right % 64));
    default:
      throw new JsonnetError(at, `there is no operator ${operator}`);
  }
}

function finite(value: number, at: Location): number {
  if (Number.isFinite(value)) return value;
  throw new JsonnetError(at, "the number is too large");
}

/** `==`. @throws JsonnetError for functions, which cannot be compared. */
export function equals(left: Value, right: Value, at: Location): boolean {
  if (left instanceof FunctionValue || right instanceof FunctionValue)
    throw new JsonnetError(at, "functions cannot be compared");
  if (left instanceof ArrayValue && right instanceof ArrayValue)
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => equals(item.value, right.items[index]?.value ?? null, at))
    );
  if (left instanceof ObjectValue && right instanceof ObjectValue) {
    const names = left.names("shown");
    const others = right.names("shown");
    if (names.length !== others.length || names.some((name, index) => name !== others[index])) return false;
    return names.every((name) => equals(left.get(name) ?? null, right.get(name) ?? null, at));
  }
  return left === right;
}

/** Less than 0 where `left` comes first. @throws JsonnetError for what has no order. */
export function compare(left: Value, right: Value, at: Location): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return byCodePoint(left, right);
  if (left instanceof ArrayValue && right instanceof ArrayValue) {
    for (const [index, item] of left.items.entries()) {
      const other = right.items[index];
      if (!other) return 1;
      const order = compare(item.value, other.value, at);
      if (order !== 0) return order;
    }
    return left.items.length - right.items.length;
  }
  throw new JsonnetError(at, `a ${typeOf(left)} and a ${typeOf(right)} have no order`);
}
