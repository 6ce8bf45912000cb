import { expect, test } from "vitest";
import { generatedFiles } from "../../packages/cli/src/generate/files.ts";
import { resolveOperator } from "../../packages/cli/src/generate/resolve.ts";
import { operator } from "./operator-config.ts";
import { operator as withGateway } from "./operator-with-gateway.ts";

test("a setting of the program is a value of the chart", () => {
  const files = generatedFiles(resolveOperator(operator, "0.1.0"));
  expect(files.get("chart/values.yaml")).toContain("  # The most shops in a namespace\n  maxShops: 100\n");
  expect(files.get("config/base/manager.yaml")).toContain('- name: MAX_SHOPS\n              value: "100"\n');
});

test("a gateway runs beside the manager", () => {
  const files = generatedFiles(resolveOperator(withGateway, "0.1.0"));
  expect(files.get("config/base/gateway.yaml")).toContain("name: shop-operator-gateway\n");
  expect(files.get("config/monitoring/prometheus-rule.yaml")).toContain("alert: ShopsUnpaid\n");
});
