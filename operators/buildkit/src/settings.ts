import { z } from "zod";

/** Words with commas between them. */
function words(text: string): readonly string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/**
 * What those who run the cluster may choose for the operator and the allocation API alike, as
 * variables.
 */
export const CommonSettings = z.object({
  NAMESPACE_SELECTOR: z
    .string()
    .default("")
    .describe(
      "Only pools in namespaces with these labels count, such as team=web; the operator's own namespace must have them too. Empty: all",
    ),
  API_HOSTNAMES: z
    .string()
    .default("")
    .describe(
      "Names by which clients outside the cluster reach the API, with commas: for its certificate, and refused to pools",
    ),
});

/** The namespaces of the pools, for a manager. */
export function namespacesOf(environment: Readonly<Record<string, string | undefined>>) {
  const { NAMESPACE_SELECTOR: labelSelector } = CommonSettings.parse(environment);
  return labelSelector === "" ? {} : { namespaces: { labelSelector } };
}

/** Names by which clients outside the cluster reach the allocation API. */
export function apiHostnamesOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return words(CommonSettings.parse(environment).API_HOSTNAMES);
}

/** The same for the operator alone. */
export const OperatorSettings = z.object({
  GATEWAY_IMAGE: z
    .string()
    .default("")
    .describe("Image of the gateways of pools that name none; empty: the operator's own"),
});

/** The same for the allocation API. */
export const ApiSettings = z.object({
  API_AUDIENCE: z
    .string()
    .min(1)
    .default("buildkit-controller")
    .describe("The audience that tokens of ServiceAccounts must have"),
  API_ADMIN_USERS: z
    .string()
    .default("")
    .describe("Users who may do everything in every pool, with commas; * stands for any characters"),
  API_ADMIN_GROUPS: z.string().default("").describe("Groups who may, in the same way"),
});

/** The settings of the API as it takes them. */
export function apiSettingsOf(environment: Readonly<Record<string, string | undefined>>) {
  const settings = ApiSettings.parse(environment);
  return {
    dnsNames: apiHostnamesOf(environment),
    audience: settings.API_AUDIENCE,
    admins: { users: words(settings.API_ADMIN_USERS), groups: words(settings.API_ADMIN_GROUPS) },
  };
}
