import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readBootstrap } from "./bootstrap.ts";
import { aggregatedRules, describeRules, type PolicyRule, uncovered } from "./rules.ts";

const subset = (...values: string[]) => fc.subarray(values, { minLength: 1 });
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: subset("get", "list", "*"),
    apiGroups: subset("", "apps", "*"),
    resources: subset("pods", "pods/log", "*/log", "*"),
    resourceNames: fc.subarray(["a", "b"]),
  }),
  fc.record({ verbs: subset("get", "*"), nonResourceURLs: subset("/a", "/a/*", "*") }),
);

describe("coverage", () => {
  test("a user may grant exactly the rules that the user has", () => {
    fc.assert(fc.property(fc.array(rule, { maxLength: 4 }), (rules) => uncovered(rules, rules).length === 0));
  });

  test("holding more never covers less", () => {
    const rules = fc.array(rule, { maxLength: 3 });
    fc.assert(
      fc.property(rules, rules, rule, (wanted, held, more) => {
        expect(uncovered([...held, more], wanted).length).toBeLessThanOrEqual(uncovered(held, wanted).length);
      }),
    );
  });

  test("what is missing is listed by resource, sorted, with its verbs together", () => {
    const missing = uncovered(
      [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
      [
        { verbs: ["get", "delete"], apiGroups: ["apps", ""], resources: ["pods"] },
        { verbs: ["get"], nonResourceURLs: ["/metrics"] },
      ],
    );
    expect(describeRules(missing)).toEqual([
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
      '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    ]);
  });
});

describe("aggregation", () => {
  const { clusterRoles } = readBootstrap();

  test("of a new cluster's roles is settled", () => {
    const aggregating = clusterRoles.filter((role) => aggregatedRules(role, clusterRoles));
    expect(aggregating.map(({ metadata }) => (metadata as { name: string }).name)).toEqual([
      "admin",
      "edit",
      "view",
    ]);
    for (const role of aggregating) expect(aggregatedRules(role, clusterRoles)).toEqual(role.rules);
  });

  test("gathers each rule once, by the name of its role, and never from itself", () => {
    const labels = { gather: "yes" };
    const one = { verbs: ["get"], apiGroups: ["a"], resources: ["b"] };
    const two = { verbs: ["get"], apiGroups: ["c"], resources: ["d"] };
    const own = {
      metadata: { name: "all", labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      rules: [{ verbs: ["*"] }],
    };
    const others = [
      { metadata: { name: "z", labels }, rules: [one] },
      { metadata: { name: "b", labels }, rules: [two, one] },
      { metadata: { name: "no" }, rules: [{ verbs: ["*"] }] },
    ];
    expect(aggregatedRules(own, [own, ...others])).toEqual([two, one]);
  });
});
