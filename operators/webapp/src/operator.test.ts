import { embeddedWorld } from "../testing/embedded-world.ts";
import { webappSuite } from "../testing/suite.ts";

webappSuite(embeddedWorld);
