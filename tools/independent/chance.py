"""Random numbers (docs/spec/random.md): seeds, sequential and bulk draws, and how a tick counts them."""

import math
import struct
from hashlib import sha256

from arithmetic import log

WORD = 2**32 - 1


def tick_seed(seed, tick):
    return sha256(struct.pack("<QQ", seed, tick)).digest()


def stream_seed(seed, tick, name, number):
    """random.md, Seeds."""
    name = name.encode()
    return sha256(tick_seed(seed, tick) + bytes([len(name)]) + name + struct.pack("<Q", number)).digest()


def philox(key, index, block):
    """random.md, Bulk draws: the four words of a block of an index."""
    k0, k1 = key
    c0, c1, c2, c3 = index & WORD, index >> 32, block, 0
    for _ in range(10):
        p, q = c0 * 0xd2511f53, c2 * 0xcd9e8d57
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q & WORD, p >> 32 ^ c3 ^ k1, p & WORD
        k0, k1 = k0 + 0x9e3779b9 & WORD, k1 + 0xbb67ae85 & WORD
    return c0, c1, c2, c3


class Bulk:
    """A bulk draw: words for each index."""

    def __init__(self, stream):
        self.key = struct.unpack_from("<II", stream)

    def words(self, index):
        """An iterator over all words of the index."""
        block = 0
        while True:
            yield from philox(self.key, index, block)
            block += 1

    def float32(self, index):
        """Float32 of the first word of the index."""
        return real32(philox(self.key, index, 0)[0])


def real32(word):
    """Float32 of a word of a bulk draw."""
    return (word >> 8) * 2**-24


def normal_of(word):
    """Normal of a word of a bulk draw."""
    return normal((word + 0.5) * 2**-32)


def below(n, words):
    """Below(n) of a bulk draw, from its words."""
    m = next(words) * n
    if m & WORD < n:
        least = 2**32 % n
        while m & WORD < least:
            m = next(words) * n
    return m >> 32


def _quarter(m, a, b, c, d):
    for (x, y, z), bits in zip(((a, b, d), (c, d, b)) * 2, (16, 12, 8, 7)):
        m[x] = m[x] + m[y] & WORD
        turned = m[z] ^ m[x]
        m[z] = (turned << bits | turned >> 32 - bits) & WORD


_QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
             (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
_CONSTANTS = (0x61707865, 0x3320646e, 0x79622d32, 0x6b206574)


def _block(key, counter, double_rounds):
    """The start words of a ChaCha block and those after its rounds."""
    start = [*_CONSTANTS, *key, counter, 0, 0, 0]
    words = list(start)
    for _ in range(double_rounds):
        for quarter in _QUARTERS:
            _quarter(words, *quarter)
    return start, words


def chacha8(seed):
    """random.md, Sequential draws: an iterator over the draws of chacha8."""
    while True:
        key = struct.unpack("<8I", seed)
        blocks = []
        for counter in range(16):
            start, words = _block(key, counter, 4)
            blocks.append([w + s & WORD if 4 <= i < 12 else w for i, (w, s) in enumerate(zip(words, start))])
        data = b"".join(struct.pack("<4I", *(block[i] for block in blocks[group:group + 4]))
                        for group in (0, 4, 8, 12) for i in range(16))
        yield from struct.unpack_from("<124Q", data)
        seed = data[992:]


def chacha20(seed):
    """random.md, Sequential draws: an iterator over the draws of chacha20."""
    key = struct.unpack("<8I", seed)
    counter = 0
    while True:
        start, words = _block(key, counter, 10)
        yield from struct.unpack("<8Q", struct.pack("<16I", *(w + s & WORD for w, s in zip(words, start))))
        counter += 1


GENERATORS = {"chacha8": chacha8, "chacha20": chacha20}


class Sequential:
    """A stream of sequential draws, which counts them."""

    def __init__(self, draws):
        self.next_draw, self.draws, self.last = draws, 0, 0

    def uint64(self):
        self.last = next(self.next_draw)
        self.draws += 1
        return self.last

    def below(self, n):
        least = 2**64 % n
        while self.uint64() < least:
            pass
        return self.last % n


class Chance:
    """All draws of a tick."""

    def __init__(self, seed, tick, generator):
        self.seed, self.tick, self.generator = seed, tick, GENERATORS[generator]
        self.bulks, self.streams = {}, {}

    def _seed(self, name, number):
        return stream_seed(self.seed, self.tick, name, number)

    def bulk(self, name, indices, number=0):
        """Opens the bulk draw of a stream for so many indices."""
        self.bulks[name, number] = indices
        return Bulk(self._seed(name, number))

    def stream(self, name, number):
        """The sequential stream, at its start when it is first asked for."""
        if (name, number) not in self.streams:
            self.streams[name, number] = Sequential(self.generator(self._seed(name, number)))
        return self.streams[name, number]

    def counts(self):
        """random.md, Counting: name, number, draws and last value of each stream with a draw, in order."""
        counts = [(name.encode(), number, 1, indices) for (name, number), indices in self.bulks.items()]
        counts += [(name.encode(), number, stream.draws, stream.last)
                   for (name, number), stream in self.streams.items() if stream.draws]
        return sorted(counts)


# The normal distribution.

_A = (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
      3.3430575583588128105e4, 2.5090809287301226727e3)
_B = (1, 4.2313330701600911252e1, 6.8718700749205790830e2,
      5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
      2.8729085735721942674e4, 5.2264952788528545610e3)
_C = (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4)
_D = (1, 2.05319162663775882187e0, 1.67638483018380384940e0,
      6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
      5.47593808499534494600e-4, 1.05075007164441684324e-9)
_E = (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7)
_F = (1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
      1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
      1.42151175831644588870e-7, 2.04426310338993978564e-15)


def _horner(c, r):
    p = c[7]
    for k in range(6, -1, -1):
        p = p * r + c[k]
    return p


def normal(u):
    """random.md, The normal distribution: Q(u)."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return (q * _horner(_A, r)) / _horner(_B, r)
    r = math.sqrt(-log(u if q <= 0 else 1 - u))
    if r <= 5:
        z = _horner(_C, r - 1.6) / _horner(_D, r - 1.6)
    else:
        z = _horner(_E, r - 5) / _horner(_F, r - 5)
    return -z if q < 0 else z
