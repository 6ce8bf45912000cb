import { isConflict, isNotFound } from "@windlass/client";
import { sleep } from "@windlass/clock";
import type { Informer, Runnable, RunnableContext } from "@windlass/runtime";
import { EndpointSlice } from "@windlass/runtime/kinds";
import { resolversIn } from "./cluster-view.ts";
import { type EndpointSliceObject, isMadeForResolver, serviceNameLabel } from "./objects.ts";
import type { LinkChange, LinksContext } from "./resolver-links.ts";
import type { ResolverService } from "./sight.ts";

/** Which replicas are there: `ResolverLinks`, as far as it is needed here. */
export interface ReplicaWatch {
  start(context: LinksContext): () => void;
  expect(addresses: readonly string[]): void;
  onChange(listener: (address: string, change: LinkChange) => void): () => void;
  isDown(address: string): boolean;
  isGone(address: string): boolean;
}

/** How many EndpointSlices are written at a time. */
const atATime = 32;
/** How soon a write is tried again that did not fit what the server has. */
const retryMs = 20;

/**
 * Takes replicas of the resolver that are gone out of all Services, on every replica of the
 * operator: connections are not refused for as long as there is no leader.
 *
 * It only takes out, each replica once for each time that it goes, and never the last endpoint of a
 * Service: two that see different things cannot undo each other's work for long. Only the leader
 * puts endpoints in.
 */
export function goneResolvers(links: ReplicaWatch, resolver: ResolverService): Runnable {
  return {
    name: "gone-resolvers",
    stage: "everywhere",
    start: async (context) => {
      const slices = context.informer(EndpointSlice);
      slices.addIndex("ofService", (slice) => [serviceOf(slice)]);
      await slices.synced;
      const stopLinks = links.start(context);
      const key = `${resolver.namespace}/${resolver.name}`;
      let known: readonly string[] = [];
      // Ready or not, and listed or not for as long as a Service leads there: the kubelet may be
      // faster than the last connection.
      const expect = () => {
        const listed = resolversIn(slices.byIndex("ofService", key)).map(({ address }) => address);
        const dropped = known.filter((address) => !listed.includes(address));
        const kept = dropped.filter((address) => slices.list().some((slice) => leadsTo(slice, address)));
        known = [...listed, ...kept];
        links.expect(known);
      };
      expect();
      const ends = [
        slices.subscribe(({ object }) => {
          if (serviceOf(object) === key) expect();
        }),
        links.onChange((address, change) => {
          if (change === "gone") void takeOut(address, slices, links, context);
        }),
        stopLinks,
        () => slices.release(),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Takes an address out of every Service that has another endpoint. */
async function takeOut(
  address: string,
  slices: Informer<EndpointSliceObject>,
  links: ReplicaWatch,
  { client, clock, log, signal }: RunnableContext,
): Promise<void> {
  const leads = (slice: EndpointSliceObject) => leadsTo(slice, address) && hasOther(slice);
  /** Whether connections have somewhere else to go. */
  const hasOther = (slice: EndpointSliceObject) =>
    slices
      .byIndex("ofService", serviceOf(slice))
      .flatMap(({ endpoints }) => endpoints ?? [])
      .some(
        ({ addresses, conditions = {} }) =>
          (conditions.ready ?? true) && addresses.every((one) => one !== address && !links.isDown(one)),
      );
  const left = slices.list().filter(leads);
  const count = left.length;
  const takeNext = async (): Promise<void> => {
    for (let slice = left.pop(); slice; slice = left.pop()) {
      const { namespace, name } = slice.metadata;
      while (links.isGone(address) && !signal.aborted) {
        const current = slices.get({ namespace, name });
        if (!current || !leads(current) || (await write(current))) break;
        await sleep(clock, retryMs, signal);
      }
    }
  };
  /** Whether it is done. */
  const write = async ({ metadata, endpoints }: EndpointSliceObject): Promise<boolean> => {
    const { namespace, name, resourceVersion } = metadata;
    const others = (endpoints ?? []).filter(({ addresses }) => !addresses.includes(address));
    const patch = { metadata: { resourceVersion }, endpoints: others };
    try {
      await client.patch(EndpointSlice, { namespace, name }, { type: "merge", patch });
    } catch (error) {
      if (isNotFound(error)) return true;
      if (!isConflict(error)) throw error;
      return false;
    }
    return true;
  };
  try {
    await Promise.all(Array.from({ length: atATime }, takeNext));
    if (count > 0) log.info({ resolver: address, services: count }, "took a resolver that is gone out");
  } catch (error) {
    if (!signal.aborted)
      log.warn({ resolver: address, err: error }, "cannot take a resolver out that is gone");
  }
}

/** Whether an EndpointSlice for the resolver has an address. */
function leadsTo(slice: EndpointSliceObject, address: string): boolean {
  const { endpoints } = slice;
  return isMadeForResolver(slice) && (endpoints ?? []).some(({ addresses }) => addresses.includes(address));
}

function serviceOf({ metadata }: EndpointSliceObject): string {
  return `${metadata.namespace}/${metadata.labels?.[serviceNameLabel] ?? ""}`;
}
