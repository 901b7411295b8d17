/** Filters on text. */
import { testFilterErrors, testFilters } from './filter.suite.ts'
import { TEXT_FILTERS } from './text-filters.ts'

testFilters(TEXT_FILTERS, {
  string: [
    ['5 | string', '5'],
    ['yes | string | lower == "true"', true],
    ['missing | string', ''],
    ['{"a": [1]} | string', '{"a":[1]}'],
    ['2.0 | string', '2.0'],
  ],
  safe: [
    ['"<b>" | safe', '<b>'],
    ['[1] | safe', [1]],
  ],
  lower: [
    ['"ÄB" | lower', 'äb'],
    ['yes | lower', 'true'],
    ['missing | lower', ''],
  ],
  upper: [
    ['"äb" | upper', 'ÄB'],
    ['5 | upper', '5'],
  ],
  capitalize: [
    ['"hello WORLD" | capitalize', 'Hello world'],
    ['"" | capitalize', ''],
  ],
  title: [
    ['"hello big-world (now)" | title', 'Hello Big-World (Now)'],
    [`"it's" | title`, "It's"],
  ],
  trim: [
    ['"  x " | trim', 'x'],
    ['"xxaxx" | trim("x")', 'a'],
    ['" x" | trim(chars=none)', 'x'],
  ],
  escape: [[`'<a b="c">&\\'' | escape`, '&lt;a b=&#34;c&#34;&gt;&amp;&#39;']],
  e: [['"<" | e', '&lt;']],
  urlencode: [
    ['"a b/c&d(é)" | urlencode', 'a%20b/c%26d%28%C3%A9%29'],
    ['{"a": 1, "b": "x y", "c": none} | urlencode', 'a=1&b=x+y'],
  ],
  replace: [
    ['"a-b-c" | replace("-", "+")', 'a+b+c'],
    ['"a-b-c" | replace("-", "+", 1)', 'a+b-c'],
    ['"abc" | replace("", "-")', '-a-b-c-'],
    ['15 | replace(1, 2)', '25'],
    ['"a.b" | replace(".", "$&")', 'a$&b'],
    [`"it's" | replace("'", "''")`, "it''s"],
  ],
  split: [
    ['"a b  c" | split', ['a', 'b', '', 'c']],
    ['"a,b,c" | split(",")', ['a', 'b', 'c']],
    ['"a,b,c" | split(",", 1)', ['a', 'b,c']],
    ['missing | split', []],
    ['nothing | split', []],
  ],
  lines: [
    ['"a\\nb\\r\\nc\\n" | lines', ['a', 'b', 'c']],
    ['missing | lines', []],
  ],
  wordcount: [['"hello  big world " | wordcount', 3]],
  indent: [
    ['"a\\n\\nb" | indent(2)', 'a\n\n  b'],
    ['"a\\nb" | indent', 'a\n    b'],
    ['"a\\n\\nb" | indent(2, true, true)', '  a\n  \n  b'],
    ['"a\\nb" | indent("> ", first=true)', '> a\n> b'],
  ],
  center: [
    ['"x" | center(5)', '  x  '],
    ['"xy" | center(5)', '  xy '],
    ['"xyz" | center(2)', 'xyz'],
  ],
  truncate: [
    ['"foo bar baz qux" | truncate(9)', 'foo...'],
    ['"foo bar baz qux" | truncate(9, true)', 'foo ba...'],
    ['"foo bar baz qux" | truncate(11)', 'foo bar baz qux'],
    ['"foobarbaz" | truncate(5, end="-", leeway=0)', 'foob-'],
  ],
  format: [
    ['"%s-%d" | format("a", 5)', 'a-5'],
    ['"%05.2f|%+d|%x|%-5s|%5s|%%" | format(3.14159, 5, 255, "ab", "cd")', '03.14|+5|ff|ab   |   cd|%'],
    ['"%(a)s" | format(a=1)', '1'],
  ],
  b64encode: [
    ['"äö" | b64encode', 'w6TDtg=='],
    ['"" | b64encode', ''],
  ],
  b64decode: [
    ['"w6TDtg==" | b64decode', 'äö'],
    ['"a😀" | b64encode | b64decode', 'a😀'],
  ],
})

testFilterErrors([
  ['"!!" | b64decode', 'not base64'],
  ['"/w==" | b64decode', 'not base64 of UTF-8'],
  ['"abcde" | b64decode', 'not base64'],
  ['"a" | split("")', 'separator is empty'],
  ['"%d" | format', 'format needs more arguments'],
  ['"%s" | format(1, 2)', 'format has too many arguments'],
  ['"%d" | format("x")', "format 'd' needs a number"],
  ['"%y" | format(1)', "unknown format '%'"],
])
