export { type OpenApiDocument, OpenApiDocuments } from "./documents.ts";
