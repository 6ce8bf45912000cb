const field = "(\\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(/[0-9]+)?";
const list = `${field}(,${field})*`;

/** A cron expression with its five fields. What they may hold is checked when it is read. */
export const cronPattern = new RegExp(`^${list}( +${list}){4}$`);

/** The form of an IANA time zone. Whether there is such a zone, the runtime's own table decides. */
export const timeZonePattern = /^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/;
