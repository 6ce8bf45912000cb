/** The command `windlass-buildkit` as a program of the image: `node cli-main.js build …`. */
import "./cli/main.ts";
