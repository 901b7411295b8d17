/**
 * Keeps requests away from addresses of the private network.
 *
 * 1. The check is on the address that is connected to, after DNS: a public name that points inside is caught, and the
 *    answer cannot change between check and connection.
 * 2. IPv4 addresses inside IPv6 ones (mapped, NAT64, 6to4) are judged by what they reach.
 */
import { lookup as resolveName, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

import { ToolFailure } from '../../tool-failure.ts'

const IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
const IPV6: readonly (readonly [string, number])[] = [
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const privateAddresses = ((): BlockList => {
  const list = new BlockList()
  for (const [network, prefix] of IPV4) list.addSubnet(network, prefix, 'ipv4')
  for (const [network, prefix] of IPV6) list.addSubnet(network, prefix, 'ipv6')
  return list
})()

/** Also true for text that is no address at all: what is not understood is not allowed. */
export const isPrivateAddress = (address: string): boolean => {
  const bare = address.split('%')[0] as string
  const family = isIP(bare)
  // A BlockList judges IPv4-mapped IPv6 addresses by its IPv4 rules.
  return family === 0 || privateAddresses.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}

const blockedAddress = (host: string): ToolFailure =>
  new ToolFailure({
    kind: 'config',
    code: 'ADDRESS_BLOCKED',
    message: `${host} is an address of a private network, and this worker may not call those`,
    retryable: false,
  })

export interface AddressGuard {
  /** Throws for a host that is written as a forbidden address; names are checked by `lookup`. */
  checkHost(hostname: string): void
  /** Like dns.lookup, without forbidden addresses. */
  readonly lookup: LookupFunction
}

export const createAddressGuard = (isForbidden: (address: string) => boolean): AddressGuard => ({
  checkHost(hostname) {
    const bare = hostname.replace(/^\[|\]$/g, '')
    if (isIP(bare) !== 0 && isForbidden(bare)) throw blockedAddress(bare)
  },
  lookup(hostname, options, callback) {
    resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) {
        callback(error, [])
        return
      }
      const allowed = addresses.filter(({ address }) => !isForbidden(address))
      const first = allowed[0]
      if (first === undefined) callback(blockedAddress(hostname), [])
      else if (options.all === true) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  },
})

export const privateNetworkGuard = createAddressGuard(isPrivateAddress)
