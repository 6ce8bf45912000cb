// What the windlass command reads: kinds and controllers. It starts nothing; main.ts does.
export { gadgetController } from "./controller.ts";
export { Gadget } from "./kind.ts";
