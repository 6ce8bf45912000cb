export { type ConnectionOptions, GrpcConnection, type GrpcServer, type Method } from "./connection.ts";
export { type GrpcCode, GrpcError, grpcCodes } from "./error.ts";
export * from "./message.ts";
