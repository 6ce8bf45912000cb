export { type OpenApiDocument, openApiDocument, openApiIndex } from "./documents.ts";
