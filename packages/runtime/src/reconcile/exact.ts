/** How deep objects are compared: a field of a container's environment in a CronJob is at 11. */
type Deep = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/** Whether two types are one and the same, optional fields and all. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type KeysOf<T> = T extends unknown ? keyof T : never;
type ItemOf<T> = T extends readonly (infer Item)[] ? Item : never;
type FieldOf<T, Field> = T extends unknown ? (Field extends keyof T ? NonNullable<T[Field]> : never) : never;
type Fields<T> = Extract<NonNullable<T>, object>;

/**
 * `never` if `Given` has no field, at any depth, that `Allowed` does not have. Of a union, a field
 * of any member counts. What may be anything has no unknown fields: for a compiler that is not
 * strict, that is every value that is undefined.
 */
type Excess<Given, Allowed, Depth extends readonly unknown[] = Deep> =
  Same<Given, Allowed> extends true
    ? never
    : unknown extends Given | Allowed
      ? never
      : Depth extends readonly [unknown, ...infer Deeper]
        ? Given extends readonly (infer Item)[]
          ? Excess<Item, ItemOf<Allowed>, Depth>
          : Given extends (...args: never) => unknown
            ? never
            : Given extends object
              ? [Fields<Allowed>] extends [never]
                ? never
                : {
                    [Field in keyof Given]-?: Field extends KeysOf<Fields<Allowed>>
                      ? Excess<NonNullable<Given[Field]>, FieldOf<Fields<Allowed>, Field>, Deeper>
                      : Field;
                  }[keyof Given]
              : never
        : never;

/** Whether all fields of a value are those of a type, at any depth. */
export type IsExact<Given, Allowed> = [Excess<Given, Allowed>] extends [never] ? true : false;

/** The paths of the fields that {@link Excess} has found: `spec.ports[].target`. */
export type UnknownPaths<Given, Allowed, Path extends string = ""> =
  IsExact<Given, Allowed> extends true
    ? never
    : Given extends readonly (infer Item)[]
      ? UnknownPaths<Item, ItemOf<Allowed>, `${Path}[]`>
      : {
          [Field in keyof Given & string]-?: Field extends KeysOf<Fields<Allowed>>
            ? UnknownPaths<NonNullable<Given[Field]>, FieldOf<Fields<Allowed>, Field>, Under<Path, Field>>
            : Under<Path, Field>;
        }[keyof Given & string];

type Under<Path extends string, Field extends string> = Path extends "" ? Field : `${Path}.${Field}`;

/**
 * Makes the compiler refuse a value with fields that `Allowed` does not have, and name them. It
 * finds those by itself in object literals, but not in what a function or a variable has put
 * together. The type of the value is inferred from the branch that is never taken.
 */
export type NothingElse<Given, Allowed> =
  IsExact<Given, Allowed> extends infer Exact
    ? Exact extends true
      ? unknown
      : Exact extends false
        ? UnknownField<UnknownPaths<Given, Allowed>>
        : Given
    : never;

/** Takes the place of what nobody can give. */
type UnknownField<Path extends string> = { readonly [P in Path as `unknown field: ${P}`]: never };
