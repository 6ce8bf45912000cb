// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface CustomResourceColumnDefinition {
  readonly description?: string;
  readonly format?: string;
  readonly jsonPath: string;
  readonly name: string;
  readonly priority?: number;
  readonly type: string;
}

export interface CustomResourceColumnDefinitionInput {
  readonly description?: string | undefined;
  readonly format?: string | undefined;
  readonly jsonPath: string;
  readonly name: string;
  readonly priority?: number | undefined;
  readonly type: string;
}

export interface CustomResourceConversion {
  readonly strategy: string;
  readonly webhook?: WebhookConversion;
}

export interface CustomResourceConversionInput {
  readonly strategy: string;
  readonly webhook?: WebhookConversionInput | undefined;
}

export interface CustomResourceDefinition {
  readonly apiVersion?: "apiextensions.k8s.io/v1";
  readonly kind?: "CustomResourceDefinition";
  readonly metadata: ClusterObjectMeta;
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}

export interface CustomResourceDefinitionInput {
  readonly apiVersion?: "apiextensions.k8s.io/v1" | undefined;
  readonly kind?: "CustomResourceDefinition" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: CustomResourceDefinitionSpecInput;
  readonly status?: CustomResourceDefinitionStatusInput | undefined;
}

export interface CustomResourceDefinitionCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface CustomResourceDefinitionConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface CustomResourceDefinitionNames {
  readonly categories?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly singular?: string;
}

export interface CustomResourceDefinitionNamesInput {
  readonly categories?: readonly string[] | undefined;
  readonly kind: string;
  readonly listKind?: string | undefined;
  readonly plural: string;
  readonly shortNames?: readonly string[] | undefined;
  readonly singular?: string | undefined;
}

export interface CustomResourceDefinitionSpec {
  readonly conversion?: CustomResourceConversion;
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly preserveUnknownFields?: boolean;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

export interface CustomResourceDefinitionSpecInput {
  readonly conversion?: CustomResourceConversionInput | undefined;
  readonly group: string;
  readonly names: CustomResourceDefinitionNamesInput;
  readonly preserveUnknownFields?: boolean | undefined;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersionInput[];
}

export interface CustomResourceDefinitionStatus {
  readonly acceptedNames?: CustomResourceDefinitionNames;
  readonly conditions?: readonly CustomResourceDefinitionCondition[] | null;
  readonly observedGeneration?: number;
  readonly storedVersions?: readonly string[];
}

export interface CustomResourceDefinitionStatusInput {
  readonly acceptedNames?: CustomResourceDefinitionNamesInput | undefined;
  readonly conditions?: readonly CustomResourceDefinitionConditionInput[] | null | undefined;
  readonly observedGeneration?: number | undefined;
  readonly storedVersions?: readonly string[] | undefined;
}

export interface CustomResourceDefinitionVersion {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly name: string;
  readonly schema?: CustomResourceValidation;
  readonly selectableFields?: readonly SelectableField[];
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: CustomResourceSubresources;
}

export interface CustomResourceDefinitionVersionInput {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinitionInput[] | undefined;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly name: string;
  readonly schema?: CustomResourceValidationInput | undefined;
  readonly selectableFields?: readonly SelectableField[] | undefined;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: CustomResourceSubresourcesInput | undefined;
}

export interface CustomResourceSubresourceScale {
  readonly labelSelectorPath?: string;
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

export interface CustomResourceSubresourceScaleInput {
  readonly labelSelectorPath?: string | undefined;
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

export interface CustomResourceSubresourceStatus {
}

export interface CustomResourceSubresources {
  readonly scale?: CustomResourceSubresourceScale;
  readonly status?: CustomResourceSubresourceStatus;
}

export interface CustomResourceSubresourcesInput {
  readonly scale?: CustomResourceSubresourceScaleInput | undefined;
  readonly status?: CustomResourceSubresourceStatus | undefined;
}

export interface CustomResourceValidation {
  readonly openAPIV3Schema?: JSONSchemaProps;
}

export interface CustomResourceValidationInput {
  readonly openAPIV3Schema?: JSONSchemaPropsInput | undefined;
}

export interface ExternalDocumentation {
  readonly description?: string;
  readonly url?: string;
}

export interface ExternalDocumentationInput {
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

export interface JSONSchemaProps {
  readonly $ref?: string;
  readonly $schema?: string;
  readonly additionalItems?: JSONSchemaProps | boolean;
  readonly additionalProperties?: JSONSchemaProps | boolean;
  readonly allOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly default?: unknown;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[]>>;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly exclusiveMaximum?: boolean;
  readonly exclusiveMinimum?: boolean;
  readonly externalDocs?: ExternalDocumentation;
  readonly format?: string;
  readonly id?: string;
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[];
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly multipleOf?: number;
  readonly not?: JSONSchemaProps;
  readonly nullable?: boolean;
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly pattern?: string;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly required?: readonly string[];
  readonly title?: string;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

export interface JSONSchemaPropsInput {
  readonly $ref?: string | undefined;
  readonly $schema?: string | undefined;
  readonly additionalItems?: JSONSchemaPropsInput | boolean | undefined;
  readonly additionalProperties?: JSONSchemaPropsInput | boolean | undefined;
  readonly allOf?: readonly JSONSchemaPropsInput[] | undefined;
  readonly anyOf?: readonly JSONSchemaPropsInput[] | undefined;
  readonly default?: unknown | undefined;
  readonly definitions?: Readonly<Record<string, JSONSchemaPropsInput>> | undefined;
  readonly dependencies?: Readonly<Record<string, JSONSchemaPropsInput | readonly string[]>> | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly example?: unknown | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly externalDocs?: ExternalDocumentationInput | undefined;
  readonly format?: string | undefined;
  readonly id?: string | undefined;
  readonly items?: JSONSchemaPropsInput | readonly JSONSchemaPropsInput[] | undefined;
  readonly maxItems?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly minProperties?: number | undefined;
  readonly minimum?: number | undefined;
  readonly multipleOf?: number | undefined;
  readonly not?: JSONSchemaPropsInput | undefined;
  readonly nullable?: boolean | undefined;
  readonly oneOf?: readonly JSONSchemaPropsInput[] | undefined;
  readonly pattern?: string | undefined;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaPropsInput>> | undefined;
  readonly properties?: Readonly<Record<string, JSONSchemaPropsInput>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly "x-kubernetes-embedded-resource"?: boolean | undefined;
  readonly "x-kubernetes-int-or-string"?: boolean | undefined;
  readonly "x-kubernetes-list-map-keys"?: readonly string[] | undefined;
  readonly "x-kubernetes-list-type"?: string | undefined;
  readonly "x-kubernetes-map-type"?: string | undefined;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean | undefined;
  readonly "x-kubernetes-validations"?: readonly ValidationRuleInput[] | undefined;
}

export interface SelectableField {
  readonly jsonPath: string;
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
}

export interface ServiceReferenceInput {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface ValidationRule {
  readonly fieldPath?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly optionalOldSelf?: boolean;
  readonly reason?: "FieldValueDuplicate" | "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired";
  readonly rule: string;
}

export interface ValidationRuleInput {
  readonly fieldPath?: string | undefined;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly optionalOldSelf?: boolean | undefined;
  readonly reason?: "FieldValueDuplicate" | "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired" | undefined;
  readonly rule: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
}

export interface WebhookClientConfigInput {
  readonly caBundle?: string | undefined;
  readonly service?: ServiceReferenceInput | undefined;
  readonly url?: string | undefined;
}

export interface WebhookConversion {
  readonly clientConfig?: WebhookClientConfig;
  readonly conversionReviewVersions: readonly string[];
}

export interface WebhookConversionInput {
  readonly clientConfig?: WebhookClientConfigInput | undefined;
  readonly conversionReviewVersions: readonly string[];
}

export const CustomResourceDefinition: ResourceKind<CustomResourceDefinition, CustomResourceDefinitionInput, "Cluster"> = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions", scope: "Cluster" };
