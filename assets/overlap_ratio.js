// The numbers of the canvas: exact fractions on BigInt, or floats, under the same operations. Pure.

const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** A fraction in lowest terms, its denominator positive. */
export function ratio(n, d = 1n) {
  if (d < 0n) [n, d] = [-n, -d];
  const g = gcd(n < 0n ? -n : n, d);
  return { n: n / g, d: d / g };
}

export const EXACT = {
  exact: true,
  zero: ratio(0n),
  one: ratio(1n),
  of: (part, whole) => ratio(BigInt(Math.round(part)), BigInt(whole)),
  add: (a, b) => ratio(a.n * b.d + b.n * a.d, a.d * b.d),
  sub: (a, b) => ratio(a.n * b.d - b.n * a.d, a.d * b.d),
  mul: (a, b) => ratio(a.n * b.n, a.d * b.d),
  div: (a, b) => ratio(a.n * b.d, a.d * b.n),
  less: (a, b) => a.n * b.d < b.n * a.d,
  value: ({ n, d }) => Number(n) / Number(d),
};

export const FLOAT = {
  exact: false,
  zero: 0,
  one: 1,
  of: (part, whole) => part / whole,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  less: (a, b) => a < b,
  value: (a) => a,
};

export const sum = (N, xs) => xs.reduce(N.add, N.zero);
export const same = (N, a, b) => !N.less(a, b) && !N.less(b, a);
export const isOne = (N, x) => (N.exact ? same(N, x, N.one) : Math.abs(x - 1) < 1e-9);

const DIGITS = 12, HOW = "write 6/10, 0.6 or 60 %.";
const FRACTION = /^(-?)([0-9]+) *\/ *([0-9]+)$/, DECIMAL = /^(-?)([0-9]*)(?:[.,]([0-9]+))?( *%)?$/;

/** The fraction in [0, 1] that a typed text says, or an Error in words; the twin of specdec.fractions_text. */
export function parseRatio(text, digits = DIGITS) {
  const plain = text.trim().replaceAll("−", "-").replaceAll("⁄", "/"), letters = [...plain];
  const shown = `“${letters.slice(0, 20).join("")}${letters.length > 20 ? "…" : ""}”`;
  if (!plain) throw new Error(`Nothing is written here: ${HOW}`);
  if ((plain.match(/[0-9]/g) ?? []).length > digits) throw new Error(`${shown} has more than ${digits} digits.`);
  const [sign, n, d] = partsOf(plain, shown);
  if (d === 0n) throw new Error(`${shown} divides by 0.`);
  if (sign && n) throw new Error(`${shown} is below 0: a probability goes from 0 to 1.`);
  if (n > d) throw new Error(`${shown} is above 1: a probability goes from 0 to 1.`);
  return ratio(n, d);
}

function partsOf(plain, shown) {
  const fraction = plain.match(FRACTION);
  if (fraction) return [fraction[1], BigInt(fraction[2]), BigInt(fraction[3])];
  const [, sign, whole, places = "", percent] = plain.match(DECIMAL) ?? [];
  if (!whole && !places) throw new Error(`${shown} is no number: ${HOW}`);
  return [sign, BigInt(whole + places), 10n ** BigInt(places.length) * (percent ? 100n : 1n)];
}

/** "3/5", "1"; of a float its digits. */
export function textOf(x) {
  if (typeof x === "number") return digitsOf(x);
  return x.d === 1n ? String(x.n) : `${x.n}/${x.d}`;
}

/** A number in at most four places, never a false 0 or 1. */
export function digitsOf(x) {
  if (x > 0 && x < 0.00005) return x.toExponential(0).replace("e-", "e−");
  if (x < 1 && x >= 0.99995) return "≈1";
  return String(Number(x.toFixed(4)));
}

/** "3/5 = 0.6", "3/7 ≈ 0.4286", "1"; a float alone. */
export function bothOf(x) {
  if (typeof x === "number" || x.d === 1n) return textOf(x);
  const digits = digitsOf(EXACT.value(x));
  return `${textOf(x)} ${10000n % x.d === 0n ? "=" : "≈"} ${digits.replace("≈", "")}`;
}
