export { decodeProtobuf, protobufMediaType } from "./decode.ts";
export { encodeList, encodeMessage, encodeProtobuf, envelope, watchFrame } from "./encode.ts";
