/** One element of DER: its tag, what is in it, and where the next one begins. */
interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly end: number;
}

/** The parts of a certificate that Node does not tell, each as DER. */
export interface RawCertificate {
  /** 1, 2 or 3. */
  readonly version: number;
  /** The object identifier of the algorithm it is signed with: its content, in hexadecimal. */
  readonly signatureAlgorithm: string;
  /** By their object identifiers: the content, in hexadecimal. */
  readonly criticalExtensions: readonly string[];
}

const tags = {
  boolean: 0x01,
  integer: 0x02,
  objectIdentifier: 0x06,
  sequence: 0x30,
  version: 0xa0,
  extensions: 0xa3,
};

/**
 * Reads a certificate that OpenSSL has parsed before, so that its form is known to be right.
 *
 * @throws RangeError if it is not
 */
export function readRawCertificate(der: Uint8Array): RawCertificate {
  const [certificate] = elements(der);
  const [body, algorithm] = elements(contentOf(certificate, tags.sequence));
  const fields = elements(contentOf(body, tags.sequence));
  const [identifier] = elements(contentOf(algorithm, tags.sequence));
  const version = fields.find(({ tag }) => tag === tags.version);
  const extensions = fields.find(({ tag }) => tag === tags.extensions);
  return {
    version: version === undefined ? 1 : 1 + (elements(version.content)[0]?.content.at(-1) ?? 0),
    signatureAlgorithm: hexOf(contentOf(identifier, tags.objectIdentifier)),
    criticalExtensions: extensions === undefined ? [] : critical(extensions.content),
  };
}

function critical(wrapped: Uint8Array): string[] {
  const [list] = elements(wrapped);
  return elements(contentOf(list, tags.sequence)).flatMap((extension) => {
    const [type, second] = elements(contentOf(extension, tags.sequence));
    const isCritical = second?.tag === tags.boolean && second.content[0] !== 0;
    return isCritical ? [hexOf(contentOf(type, tags.objectIdentifier))] : [];
  });
}

function contentOf(element: Element | undefined, tag: number): Uint8Array {
  if (element?.tag !== tag) throw new RangeError("not a certificate");
  return element.content;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** The elements that lie side by side in some bytes. */
function elements(bytes: Uint8Array): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at);
    found.push(element);
    at = element.end;
  }
  return found;
}

function elementAt(bytes: Uint8Array, at: number): Element {
  const [tag = 0, first = 0] = [bytes[at], bytes[at + 1]];
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const begin = at + 2 + lengthBytes;
  let length = lengthBytes === 0 ? first : 0;
  for (const byte of bytes.subarray(at + 2, begin)) length = length * 256 + byte;
  const end = begin + length;
  if (end > bytes.length) throw new RangeError("an element ends after what it is in");
  return { tag, content: bytes.subarray(begin, end), end };
}
