export { decodeProtobuf, protobufMediaType } from "./decode.ts";
