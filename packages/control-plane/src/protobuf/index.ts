export { decodeProtobuf, protobufMediaType } from "./decode.ts";
export { encodeProtobuf } from "./encode.ts";
