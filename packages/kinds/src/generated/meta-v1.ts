// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.

export interface Condition {
  readonly lastTransitionTime: string | null;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
}

export interface ConditionInput {
  readonly lastTransitionTime: string | null;
  readonly message: string;
  readonly observedGeneration?: number | undefined;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
}

export interface FieldSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface FieldSelectorRequirementInput {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
  readonly matchLabels?: Readonly<Record<string, string>>;
}

export interface LabelSelectorInput {
  readonly matchExpressions?: readonly LabelSelectorRequirementInput[] | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelectorRequirementInput {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

