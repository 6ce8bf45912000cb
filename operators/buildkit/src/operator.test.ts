import { embeddedEnvironment } from "../testing/embedded-environment.ts";
import { poolSuite } from "../testing/suite.ts";

poolSuite(embeddedEnvironment, 12_000);
