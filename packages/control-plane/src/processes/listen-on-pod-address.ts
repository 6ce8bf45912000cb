/**
 * Loaded into Node.js programs before their own code: one that listens on every address listens on
 * its pod's alone. Without it, the second replica of a program that listens on port 8080 would find
 * the port taken. In the language of every Node.js there is.
 */
export const listenOnPodAddress = `"use strict";
const net = require("net");
const host = process.env.WINDLASS_POD_IP;
const everywhere = (value) => value === undefined || value === null || value === "" || value === "0.0.0.0" || value === "::";
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const first = args[0];
  if (!host) return listen.apply(this, args);
  if (typeof first === "object" && first !== null) {
    const elsewhere = first.path !== undefined || first.fd !== undefined || first._handle || first.handle || typeof first.fd === "number";
    if (!elsewhere && everywhere(first.host)) args[0] = Object.assign({}, first, { host });
  } else if (first === undefined || first === null || typeof first === "function") {
    args = [0, host, ...args.filter((value) => typeof value === "function")];
  } else if (typeof first === "number" || /^[0-9]+$/.test(first)) {
    if (typeof args[1] === "string") args[1] = everywhere(args[1]) ? host : args[1];
    else args.splice(1, args[1] === undefined || args[1] === null ? 1 : 0, host);
  }
  return listen.apply(this, args);
};
`;
