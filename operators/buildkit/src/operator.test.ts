import { embeddedWorld } from "../testing/embedded-world.ts";
import { poolSuite } from "../testing/suite.ts";

poolSuite(embeddedWorld, 12_000);
