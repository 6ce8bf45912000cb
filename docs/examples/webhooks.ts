import {
  type Default,
  invalid,
  type Validate,
  type WebhookServerOptions,
  webhookServer,
} from "@windlass/runtime";
import { Greeting } from "./greeting.ts";

/** Nobody writes a greeting with blanks around the name; programs do. */
const trim: Default<typeof Greeting> = (greeting) => ({
  ...greeting,
  spec: { ...greeting.spec, name: greeting.spec.name.trim() },
});

const validate: Validate<typeof Greeting> = ({ spec }, { old, warn }) => {
  if (spec.name === "World") warn("spec.name: the world has been greeted often enough");
  if (old && old.spec.name !== spec.name)
    return invalid("spec.name", "cannot change; make another Greeting for another person");
  return undefined;
};

export function webhooks(options: Partial<WebhookServerOptions> = {}) {
  return webhookServer({ name: "greeting-operator", ...options })
    .default(Greeting, trim)
    .validate(Greeting, validate);
}
