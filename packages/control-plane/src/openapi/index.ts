export { type OpenApiDocument, openApiDocument, openApiIndex, swaggerDocument } from "./documents.ts";
