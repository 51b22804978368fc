// SPDX-License-Identifier: Apache-2.0
//
// The style of a page, light and dark.
#pragma once

namespace tutti::report {

inline constexpr const char* page_style = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #59636e;
  --rule: #d5dbe1; --soft: #f5f7f9; --right: #1a7f37; --wrong: #c62a35; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1.25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--rule); }
p { max-width: 44rem; margin: .75rem 0; white-space: pre-line; overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .94rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem 1.1rem .3rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
th { color: var(--faint); font-weight: 600; background: var(--soft); }
th.number, td.number { text-align: right; }
figure { margin: 1rem 0; }
figcaption { color: var(--faint); font-size: .9rem; margin-top: .35rem; overflow-wrap: anywhere; }
figure.plot svg { display: block; max-width: 100%; height: auto; border: 1px solid var(--rule);
  border-radius: 6px; }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem; }
.pictures figure { margin: 0; padding: .5rem; max-width: 100%; background: var(--soft);
  border: 1px solid var(--rule); border-radius: 6px; }
.pictures img { display: block; max-width: 100%; height: auto; image-rendering: pixelated; }
.pictures figcaption { max-width: 12rem; }
.right b { color: var(--right); } .wrong b { color: var(--wrong); }
.pictures figure.right { border-bottom: 3px solid var(--right); }
.pictures figure.wrong { border-bottom: 3px solid var(--wrong); }
.absent { max-width: 12rem; color: var(--faint); font-size: .85rem; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #111418; --ink: #e2e7ec; --faint: #9aa4af; --rule: #2f363d; --soft: #191e24;
    --right: #3fb950; --wrong: #f4645f; }
  svg.tutti-plot { fill: #d5dbe2; }
  svg.tutti-plot .paper { fill: #191e24; }
  svg.tutti-plot .grid { stroke: #2c333b; }
  svg.tutti-plot .axis { stroke: #9aa4af; }
  svg.tutti-plot [stroke="#0072b2"] { stroke: #4aa3df; }
  svg.tutti-plot [fill="#0072b2"] { fill: #4aa3df; }
}
@media print { main { max-width: none; padding: 0; } figure, tr { break-inside: avoid; } }
)css";

}  // namespace tutti::report
