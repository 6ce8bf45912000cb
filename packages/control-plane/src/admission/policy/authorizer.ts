import { serviceAccountUser } from "../../auth/identity.ts";
import type { Authorizer, User } from "../../auth/index.ts";
import type { Authorize } from "../../cel/library/authorizer.ts";

/** Lets expressions ask an authorizer about a user, or about the service account that they name. */
export function askedOf(authorizer: Authorizer, user: User): Authorize {
  return ({ serviceAccount, path, resource, ...question }) => {
    const whose = serviceAccount ? serviceAccountUser(serviceAccount.namespace, serviceAccount.name) : user;
    const { group = "", ...rest } = question;
    return authorizer.authorize(
      whose,
      resource === undefined ? { verb: question.verb, path: path ?? "" } : { ...rest, group, resource },
    );
  };
}
