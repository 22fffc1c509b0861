#!/bin/sh
#
# claims/*.yaml against the tests: what is called covered names tests that are
# there, that run, and that name the feature.
set -u
. "$(dirname "$0")/tap.sh"
export WEFT_CLAIMS="${WEFT_CLAIMS:-$src/claims}"

if ! command -v jq >/dev/null; then
	echo "there is no jq"
	exit 77
fi

# A line for each test of each feature, and "-" for one without:
# ID STATUS PROGRAM FUNCTION
list() { # FILE
	awk '
		function flush() {
			if (id != "" && !n)
				print id, status, "-", "-"
		}
		/^  - id: / {
			flush()
			id = $3
			status = "?"
			n = 0
		}
		/^    [a-z]*:/ { key = $1 }
		/^    status: / { status = $2 }
		/^      - / && key == "tests:" {
			n++
			k = split($2, part, ":")
			print id, status, part[1], (k > 1 ? part[2] : "-")
		}
		END { flush() }
	' "$1"
}

# The lines of a comment directly above a function.
above() { # FILE FUNCTION
	awk -v name="static void $2(" '
		index($0, name) == 1 { print text; exit }
		/^(\/\*| \*)/ { text = text " " $0; next }
		{ text = "" }
	' "$1"
}

check_function() { # ID PROGRAM FUNCTION
	file=$src/src/$2_test.c
	small=$(echo "$1" | tr 'A-Z-' 'a-z_')
	if ! [ -f "$file" ]; then
		complain "$1: no src/$2_test.c"
		return
	fi
	grep -qE "^static void $3\((void \*\*|\$)" "$file" ||
		complain "$1: $2 has no test $3"
	grep -q "cmocka_unit_test[a-z_]*($3[,)]" "$file" ||
		tr -d '\n\t ' <"$file" |
		grep -q "cmocka_unit_test[a-z_]*($3[,)]" ||
		complain "$1: $2 does not run $3"
	grep -q "'$2_test.c'" "$src/src/meson.build" ||
		complain "$1: $2_test.c is not built"
	case $3 in
	"$small"_*) return ;;
	esac
	above "$file" "$3" | grep -q "$1\([^0-9]\|\$\)" ||
		complain "$1: neither the name of $3 nor the comment has it"
}

check_file() { # ID FILE
	[ -x "$src/$2" ] || complain "$1: no test $2"
	grep -q "$1\([^0-9]\|\$\)" "$src/$2" 2>/dev/null ||
		complain "$1: $2 does not name it"
}

check_lines() { # reads what list prints
	while read -r id state program function; do
		case $state:$program:$function in
		covered:-:-) complain "$id: covered by nothing" ;;
		covered:*:-) check_file "$id" "$program" ;;
		covered:*) check_function "$id" "$program" "$function" ;;
		missing:-:-) ;;
		*) complain "$id: $state with $program" ;;
		esac
	done
}

last() { # SYSTEM: how many features its paper has
	case $1 in
	bgq) echo 140 ;;
	qsnet2) echo 89 ;;
	gemini) echo 62 ;;
	apenet) echo 40 ;;
	*) echo 0 ;;
	esac
}

for file in "$src"/claims/*.yaml; do
	system=$(basename "$file" .yaml)
	list "$file" >"$tmp/list"
	[ -s "$tmp/list" ] || complain "no features"
	check_lines <"$tmp/list"
	report "$system: every covered feature has tests that show it"

	prefix=$(sed -n '1s/[0-9]* .*//p' "$tmp/list")
	cut -d ' ' -f 1 "$tmp/list" | uniq >"$tmp/ids"
	i=1
	while [ $i -le "$(last "$system")" ]; do
		echo "$prefix$i"
		i=$((i + 1))
	done >"$tmp/want"
	cmp -s "$tmp/ids" "$tmp/want" ||
		complain "$(diff "$tmp/ids" "$tmp/want" | head -n 5)"
	report "$system: every feature is there once, in order"

	# A test that has an id in its name is named by the claims.
	small=$(echo "$prefix" | tr 'A-Z-' 'a-z_')
	grep -rhoE "^static void $small[0-9]+_[a-z0-9_]+\(void" "$src/src" \
		--include='*_test.c' | sed 's/.* //; s/(.*//' |
		while read -r function; do
			grep -q " $function\$" "$tmp/list" || echo "$function"
		done >"$tmp/forgotten"
	[ -s "$tmp/forgotten" ] &&
		complain "not in $file: $(tr '\n' ' ' <"$tmp/forgotten")"
	report "$system: every test with an id in its name is named"

	run claims "$system" --json
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	covered=$(grep ' covered ' "$tmp/list" | cut -d ' ' -f 1 | uniq |
		wc -l)
	jq -e ".$system | .features == $(last "$system") and
		.covered == $covered and
		(.missing | length) == .features - .covered" \
		"$tmp/out" >/dev/null || complain "$(head -c 200 "$tmp/out")"
	report "$system: weft claims counts the same"

	# Each change of a mutant has one place; scripts/mutants makes them.
	jq -r ".$system.mutants[].edits[].file" "$tmp/out" | sort -u |
		while read -r file; do
			if ! [ -f "$src/$file" ]; then
				echo "no file $file"
				continue
			fi
			# jq takes a second for the white space of a file
			tr -s '[:space:]' ' ' <"$src/$file" >"$tmp/squeezed"
			jq -r --arg file "$file" --rawfile text \
				"$tmp/squeezed" '
				.[].mutants[] | .id as $id | .edits[] |
				select(.file == $file) |
				(.find | gsub("\\s+"; " ")) as $find |
				($text | split($find) | length - 1) |
				select(. != 1) |
				"\($id): its text is in \($file) \(.) times"
			' "$tmp/out"
		done >"$tmp/misplaced"
	[ -s "$tmp/misplaced" ] && complain "$(cat "$tmp/misplaced")"
	report "$system: every mutant applies"
done

# --- the command ---

run claims --json
jq -e 'has("bgq") and (.bgq.missing | index("BGQ-F44")) and
	(.qsnet2.missing | index("QSN-F55"))' "$tmp/out" >/dev/null ||
	complain "$(cat "$tmp/err")"
report "without a system all are told"
run claims
grep -q '^bgq  *[0-9][0-9]*  *140 ' "$tmp/out" &&
	grep -q '^qsnet2  *[0-9][0-9]*  *89 ' "$tmp/out" &&
	grep -q '^gemini  *[0-9][0-9]*  *62 ' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report "the table has covered and total"
run claims bgq
[ "$(grep -c '^BGQ-F' "$tmp/out")" = 140 ] || complain "not 140 lines"
grep -q 'topo/torus:both_e_ports' "$tmp/out" || complain "no tests"
report "with a system each feature and its tests are told"

refused() { # WHAT TEXT ARGUMENTS
	what=$1 text=$2
	shift 2
	run "$@"
	[ $code -eq 2 ] || complain "exit code $code"
	[ -s "$tmp/out" ] && complain "something on stdout"
	grep -q "$text" "$tmp/err" || complain "$(cat "$tmp/err")"
	report "refused: $what"
}

broken() { # WHAT TEXT; the file's features come from stdin
	{
		echo 'schema: 1'
		echo 'system: bad'
		echo 'title: t'
		cat
	} >"$tmp/claims/bad.yaml"
	refused "$1" "$2" claims
}

refused 'an unknown system' 'did you mean bgq' claims bgp
refused 'two systems' 'unexpected argument' claims bgq bgq
mkdir "$tmp/claims"
WEFT_CLAIMS=$tmp/claims
broken 'a covered feature without a test' 'bad.yaml:5:[0-9]*: a covered' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered }
EOF
broken 'a covered feature without a mutant' 'bad.yaml:5:[0-9]*: .*mutant' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b] }
EOF
broken 'a missing feature with a test' 'bad.yaml:5:[0-9]*: a covered' <<-EOF
	features:
	  - { id: X-F1, what: a, status: missing, tests: [a:b] }
EOF
broken 'an id that is there twice' 'bad.yaml:6:[0-9]*: the id' <<-EOF
	features:
	  - { id: X-F1, what: a, status: missing }
	  - { id: X-F1, what: a, status: missing }
EOF
broken 'another status' 'covered or missing' <<-EOF
	features: [{ id: X-F1, what: a, status: done }]
EOF
broken 'a missing feature with a mutant' 'bad.yaml:5:[0-9]*: .* mutant' <<-EOF
	features:
	  - { id: X-F1, what: a, status: missing,
	      mutant: { file: a, find: b, put: "" } }
EOF
broken 'a mutant without a file' 'bad.yaml:6:[0-9]*: a mutant has file' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b],
	      mutant: { find: b, put: c } }
EOF
broken 'a mutant outside of the tree' 'bad.yaml:6:[0-9]*: file: want' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b],
	      mutant: [{ file: ../a, find: b, put: c }] }
EOF
broken 'an unknown key of a mutant' 'bad.yaml:6:[0-9]*: want file, find' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b],
	      mutant: [{ file: a, find: b, replace: c }] }
EOF
broken 'an unknown key' 'want id, what' <<-EOF
	features: [{ id: X-F1, what: a, state: missing }]
EOF
broken 'no features' 'want system, title and features' </dev/null
broken 'no YAML' 'bad.yaml:' <<-EOF
	features: [}
EOF

# --- scripts/mutants, where there is the build that it copies ---

verdict() { # ID TEXT
	grep -q "$1  *$2" "$tmp/out" || complain "$1 is not $2"
}

if [ "$weft" -ef "$src/build/release/src/weft" ]; then
	test=base/crc32:knows_the_check_value
	{
		printf 'schema: 1\nsystem: bad\ntitle: t\nfeatures:\n'
		i=0
		while IFS='|' read -r find put; do
			i=$((i + 1))
			echo "  - { id: X-F$i, what: a, status: covered,"
			echo "      tests: ['$test'], mutant: {"
			echo "      file: src/base/crc32.c,"
			echo "      find: '$find', put: '$put' } }"
		done <<-'EOF'
			return ~x;|return x;
			return ~x;|return    ~x;
			x & 15|x & 7
			return ~x;|return ~y;
			return ~x;|for (;;);
		EOF
	} >"$tmp/claims/bad.yaml"
	CLAIMS=$tmp/claims SCRATCH=$tmp/mutants PATIENCE=2 JOBS=1 \
		"$src/scripts/mutants" bad >"$tmp/out" 2>&1
	[ $? -eq 1 ] || complain 'it did not end with 1'
	verdict X-F1 'killed'
	verdict X-F2 'SURVIVED'
	verdict X-F3 'DOES NOT APPLY: src/base/crc32.c: .* 2 times'
	verdict X-F4 'DOES NOT COMPILE'
	verdict X-F5 'killed.* does not end'
	grep -qx '2 could not be tried' "$tmp/out" &&
		grep -qx '2 killed, 1 survived' "$tmp/out" ||
		complain "$(tail -n 12 "$tmp/out")"
	report 'a mutant is killed, survives, does not apply or compile'
fi

exit $status
