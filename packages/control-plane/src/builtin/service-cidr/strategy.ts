import { specOf, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { cidr, parseCidr } from "../../validation/names.ts";

/** A range that cluster addresses come from: one of each family, which never changes. */
export const serviceCidr: Strategy = {
  validate: (object) => {
    const faults = new Faults();
    const ranges = textsAt(specOf(object), "cidrs");
    if (ranges.length === 0) faults.required("spec.cidrs", "at least one CIDR required");
    if (ranges.length > 2) faults.invalid("spec.cidrs", { CIDRs: ranges }, "may only hold up to 2 values");
    else if (ranges.length === 2 && familyOf(ranges[0]) === familyOf(ranges[1])) {
      const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
      faults.invalid("spec.cidrs", ranges, why);
    }
    if (ranges.length <= 2) {
      for (const [index, range] of ranges.entries())
        faults.each(`spec.cidrs[${index}]`, range, network(range));
    }
    return faults.causes;
  },
  validateUpdate: (object, live) => {
    const faults = new Faults();
    const before = textsAt(specOf(live), "cidrs");
    for (const [index, range] of textsAt(specOf(object), "cidrs").entries()) {
      if (range !== before[index]) faults.invalid(`spec.cidrs[${index}]`, range, "field is immutable");
    }
    return faults.causes;
  },
};

function familyOf(range: string | undefined): 4 | 6 | undefined {
  return parseCidr(range ?? "")?.version;
}

function network(text: string): string[] {
  const parsed = parseCidr(text);
  if (!parsed) return cidr(text);
  const host = BigInt((parsed.version === 4 ? 32 : 128) - parsed.bits);
  return parsed.address % (1n << host) === 0n ? [] : ["must not have bits set beyond the prefix length"];
}
