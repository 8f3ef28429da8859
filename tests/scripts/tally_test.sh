#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tally: every way in which a test can end is counted, once.
# usage: tally_test.sh SOURCE_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cases"

cat >"$work/ctest.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="7" failures="4" disabled="0" skipped="1">
	<testcase name="core.good" classname="core.good" time="0.1" status="run">
		<system-out>a line that speaks of &lt;testcase name="x"</system-out>
	</testcase>
	<testcase name="core.bad" classname="core.bad" time="0.1" status="fail">
		<failure message="Failed"/>
	</testcase>
	<testcase name="core.leaks_at_its_end" classname="core.leaks_at_its_end" time="0.1" status="fail">
		<failure message="Failed"/>
	</testcase>
	<testcase name="core.died" classname="core.died" time="0.1" status="fail">
		<failure message="SEGFAULT"/>
	</testcase>
	<testcase name="scripts.good" classname="scripts.good" time="0.1" status="run">
	</testcase>
	<testcase name="scripts.bad" classname="scripts.bad" time="0.1" status="fail">
		<failure message="Failed"/>
	</testcase>
	<testcase name="scripts.left_out" classname="scripts.left_out" time="0" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
	</testcase>
</testsuite>
XML
cat >"$work/cases/core_good_test.xml" <<'XML'
<testsuites tests="3" failures="0" disabled="0" errors="0" name="AllTests">
  <testsuite name="Suite" tests="3">
    <testcase name="One" status="run" result="completed" time="0" classname="Suite" />
    <testcase name="Two" status="run" result="completed" time="0" classname="Suite" />
    <testcase name="Three" status="run" result="skipped" time="0" classname="Suite">
      <skipped message="a.cpp:1&#x0A;no &quot;server&quot;&#x0A;"><![CDATA[a.cpp:1 no server]]></skipped>
    </testcase>
    <testcase name="DISABLED_Four" status="notrun" result="suppressed" time="0" classname="Suite" />
  </testsuite>
</testsuites>
XML
cat >"$work/cases/core_bad_test.xml" <<'XML'
<testsuites tests="2" failures="1" disabled="0" errors="0" name="AllTests">
  <testsuite name="Suite" tests="2">
    <testcase name="Five" status="run" result="completed" time="0" classname="Suite" />
    <testcase name="Six" status="run" result="completed" time="0" classname="Suite">
      <failure message="first" type=""><![CDATA[first]]></failure>
      <failure message="second" type=""><![CDATA[second]]></failure>
    </testcase>
  </testsuite>
</testsuites>
XML
cat >"$work/cases/core_leaks_at_its_end_test.xml" <<'XML'
<testsuites tests="1" failures="0" disabled="0" errors="0" name="AllTests">
  <testsuite name="Suite" tests="1">
    <testcase name="Seven" status="run" result="completed" time="0" classname="Suite" />
  </testsuite>
</testsuites>
XML
printf '%s\n' 'failed	Suite.Six' 'failed	core.died' 'failed	core.leaks_at_its_end' 'failed	scripts.bad' 'passed	5' \
  'skipped	Suite.Three	a.cpp:1 no "server" ' 'skipped	scripts.left_out	SKIP_RETURN_CODE=77' >"$work/wanted"

"$1/scripts/tally" "$work" | LC_ALL=C sort >"$work/found"
diff "$work/wanted" "$work/found"
