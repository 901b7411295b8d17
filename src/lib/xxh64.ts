/** XXH64 (seed 0) of the eight little-endian bytes of a signed 64-bit integer: all that shard placement needs. */
const PRIME_1 = 0x9e3779b185ebca87n
const PRIME_2 = 0xc2b2ae3d27d4eb4fn
const PRIME_3 = 0x165667b19e3779f9n
const PRIME_4 = 0x85ebca77c2b2ae63n
const PRIME_5 = 0x27d4eb2f165667c5n

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value)
const rotateLeft = (value: bigint, bits: bigint): bigint => u64((value << bits) | (value >> (64n - bits)))

export const xxh64OfInt64 = (value: bigint): bigint => {
  const lane = u64(rotateLeft(u64(u64(value) * PRIME_2), 31n) * PRIME_1)
  let hash = u64(PRIME_5 + 8n) ^ lane
  hash = u64(rotateLeft(hash, 27n) * PRIME_1 + PRIME_4)
  hash = u64((hash ^ (hash >> 33n)) * PRIME_2)
  hash = u64((hash ^ (hash >> 29n)) * PRIME_3)
  return hash ^ (hash >> 32n)
}
