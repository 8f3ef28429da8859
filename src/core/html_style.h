// SPDX-License-Identifier: Apache-2.0
// The look of the HTML report: one style sheet for wide and narrow, light and dark, screen and
// paper.
#pragma once

#include <string_view>

namespace stab {

inline constexpr std::string_view k_html_style = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1f24;--soft:#57606a;--line:#d8dee4;
--track:#eef1f4;--good:#1a7f37;--good-back:#dafbe1;--bad:#b42318;--bad-back:#ffe4e1;--warn:#7d4e00;
--warn-back:#fff4d6;--mark:#1b1f24;--b0:#6e7781;--b1:#0969da;--b2:#bc4c00;--b3:#8250df;--b4:#1a7f37;
--b5:#bf3989}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--text:#e6edf3;--soft:#9aa4af;
--line:#30363d;--track:#21262d;--good:#56d364;--good-back:#12361f;--bad:#ff8a80;--bad-back:#43191a;
--warn:#e9c46a;--warn-back:#3a2d0c;--mark:#e6edf3;--b0:#8b949e;--b1:#58a6ff;--b2:#f0883e;--b3:#bc8cff;
--b4:#3fb950;--b5:#f778ba}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",
Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 20px 48px}
h1{font-size:1.6rem;line-height:1.25;margin:0;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:0 0 12px}
p{margin:0 0 10px}
.soft{color:var(--soft)}
header p{margin:4px 0 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px 20px;
margin-top:16px}
.verdict{margin-top:16px;padding:12px 16px;border-radius:10px;border-left:5px solid var(--good);
background:var(--good-back);overflow-wrap:anywhere}
.verdict.doubt{border-color:var(--warn);background:var(--warn-back)}
.verdict.bad{border-color:var(--bad);background:var(--bad-back)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin-top:16px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tile b{display:block;font-size:1.35rem;line-height:1.3;font-variant-numeric:tabular-nums}
.tile span{display:block;color:var(--soft);font-size:.86rem}
dl{display:grid;grid-template-columns:minmax(84px,max-content) 1fr;gap:4px 16px;margin:0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:0 16px}
.two>.card{min-width:0}
.bar{display:grid;grid-template-columns:118px minmax(60px,1fr) 220px;gap:2px 12px;align-items:center;
padding:3px 0}
.bar>span{font-size:.9rem;overflow-wrap:break-word;min-width:0}
dl+p,.scroll+p,.bar+p{margin-top:10px}
.bar .value{font-variant-numeric:tabular-nums}
.bar .value small{color:var(--soft);display:block;line-height:1.25}
.bar svg{display:block;width:100%;height:18px;overflow:visible}
.chosen{font-weight:650}
.chosen small{font-weight:400}
.track{fill:var(--track)}
.f0{fill:var(--b0)}.f1{fill:var(--b1)}.f2{fill:var(--b2)}.f3{fill:var(--b3)}.f4{fill:var(--b4)}
.f5{fill:var(--b5)}
.whisker{stroke:var(--mark);stroke-width:1.5}
.tick{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:3 2}
.op{border-top:1px solid var(--line);padding:8px 0}
.op:first-of-type{border-top:0}
.op>p{margin:0 0 2px;overflow-wrap:anywhere}
.op .bar svg{height:13px}
.op .bar{padding:1px 0}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin-bottom:8px;font-size:.9rem}
.legend svg{width:12px;height:12px;margin-right:6px;vertical-align:-1px}
.histogram svg{display:block;width:100%;height:72px}
.histogram figcaption{font-size:.9rem;margin-bottom:2px;overflow-wrap:anywhere}
figure{margin:0 0 14px}
.axis{display:flex;justify-content:space-between;color:var(--soft);font-size:.8rem;
border-top:1px solid var(--line);font-variant-numeric:tabular-nums}
details{margin-top:8px}
summary{cursor:pointer;color:var(--soft);font-size:.9rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem;margin-top:8px}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:500}
td{overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
ul{list-style:none;margin:0;padding:0}
li+li{border-top:1px solid var(--line)}
li{padding:8px 0;overflow-wrap:anywhere}
li p{margin:0}
.badge{display:inline-block;border-radius:999px;padding:0 10px;font-size:.85rem;font-weight:600;
background:var(--track);color:var(--soft);white-space:nowrap}
.badge.good{background:var(--good-back);color:var(--good)}
.badge.bad{background:var(--bad-back);color:var(--bad)}
.badge.doubt{background:var(--warn-back);color:var(--warn)}
pre{overflow-x:auto;background:var(--track);border-radius:8px;padding:10px 12px;margin:0;
font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{color:var(--soft);font-size:.85rem;margin-top:20px}
@media (max-width:600px){main{padding:16px 12px 32px}.card{padding:14px}
.bar{grid-template-columns:minmax(104px,auto) 1fr;padding:5px 0}.bar svg{grid-column:1/-1;grid-row:2}.bar .value{text-align:right}
.tiles{grid-template-columns:1fr 1fr}.tile{padding:10px 12px}.tile b{font-size:1.15rem}
dl{grid-template-columns:1fr}dd{margin-bottom:6px}}
@media print{body{background:#fff}.card,.tile{break-inside:avoid}}
)css";

}  // namespace stab
