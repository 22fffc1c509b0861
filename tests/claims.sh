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
		/^    status: / { status = $2 == "in" ? "part" : $2 }
		/^      - / && key == "tests:" {
			n++
			k = split($2, part, ":")
			print id, status, part[1], (k > 1 ? part[2] : "-")
		}
		END { flush() }
	' "$1"
}

# What the unit tests have, a line each: "has PROGRAM FUNCTION COMMENT" with the
# lines of a comment directly above it, "runs PROGRAM FUNCTION", and "built
# PROGRAM".
describe_tests() {
	cd "$src/src" || return
	sed -n "s/.*'\([a-z0-9_/]*\)_test\.c'.*/built \1/p" meson.build
	find . -name '*_test.c' | sed 's,^\./,,' | sort | xargs awk '
		function runs() {
			while (match(text, unit)) {
				name = substr(text, RSTART, RLENGTH - 1)
				sub(/.*\(/, "", name)
				print "runs", program, name
				text = substr(text, RSTART + RLENGTH)
			}
		}
		BEGIN {
			unit = "(cmocka_unit_test[a-z_]*|[A-Z_]+)[(]"
			unit = unit "[a-z0-9_]+[,)]"
		}
		FNR == 1 {
			runs()
			text = above = ""
			program = FILENAME
			sub(/_test\.c$/, "", program)
		}
		/^static void [a-z0-9_]+\((void \*\*|$)/ {
			name = $3
			sub(/\(.*/, "", name)
			print "has", program, name, above
		}
		/^[A-Z][A-Z_]*\([a-z0-9_]+,/ {
			name = $1
			gsub(/.*\(|,.*/, "", name)
			print "has", program, name, above
		}
		/cmocka_unit_test|struct CMUnitTest|^TESTS\(/ { is_list = 1 }
		is_list { line = $0; gsub(/[ \t]/, "", line); text = text line }
		/^}/ { is_list = 0 }
		/^(\/\*| \*)/ { above = above " " $0; next }
		{ above = "" }
		END { runs() }
	'
}

# Reads what describe_tests prints, then what list prints; complains of
# functions.
check_functions() { # LIST
	awk '
		NR == FNR && $1 == "built" { built[$2] = 1; next }
		NR == FNR && $1 == "runs" { runs[$2, $3] = 1; next }
		NR == FNR {
			is_there[$2] = 1
			has[$2, $3] = 1
			above[$2, $3] = $0
			next
		}
		$2 == "missing" || $4 == "-" { next }
		!($3 in is_there) {
			print $1 ": no src/" $3 "_test.c"
			next
		}
		!(($3, $4) in has) { print $1 ": " $3 " has no test " $4 }
		!(($3, $4) in runs) { print $1 ": " $3 " does not run " $4 }
		!($3 in built) { print $1 ": " $3 "_test.c is not built" }
		{
			small = tolower($1)
			gsub(/-/, "_", small)
			if (index($4, small "_") != 1 &&
				(above[$3, $4] " ") !~ ($1 "[^0-9]"))
				print $1 ": neither the name of " $4 \
					" nor the comment has it"
		}
	' "$tmp/tests" "$1" >>"$tmp/complaints"
}

check_file() { # ID FILE
	[ -x "$src/$2" ] || complain "$1: no test $2"
	grep -q "$1\([^0-9]\|\$\)" "$src/$2" 2>/dev/null ||
		complain "$1: $2 does not name it"
}

check_lines() { # reads what list prints
	while read -r id state program function; do
		case $state:$program:$function in
		covered:-:- | part:-:-) complain "$id: covered by nothing" ;;
		covered:*:- | part:*:-) check_file "$id" "$program" ;;
		covered:* | part:* | missing:-:-) ;;
		*) complain "$id: $state with $program" ;;
		esac
	done
}

# Whose text is not there just once; white space does not count.
misplaced() { # FILE of weft claims --json
	python3 - "$src" "$1" <<-'EOF'
		import json, os, sys

		src, claims = sys.argv[1:]
		texts = {"": ""}
		for system in json.load(open(claims)).values():
		    for m in system["mutants"]:
		        for edit in m["edits"]:
		            name = edit["file"]
		            path = os.path.join(src, name)
		            if not os.path.isfile(path):
		                print("no file", name)
		                continue
		            if path not in texts:
		                words = open(path).read().split()
		                texts[path] = " ".join(words)
		            find = " ".join(edit["find"].split())
		            n = texts[path].count(find)
		            if n != 1:
		                print(f"{m['id']}: is in {name} {n} times")
	EOF
}

last() { # SYSTEM: how many features its paper has
	case $1 in
	bgq) echo 140 ;;
	qsnet2) echo 89 ;;
	gemini) echo 62 ;;
	apenet) echo 40 ;;
	sunway) echo 97 ;;
	mpi) echo 11 ;; # no paper's
	networks) echo 35 ;; # likewise
	collectives) echo 12 ;; # likewise
	*) echo 0 ;;
	esac
}

(describe_tests) >"$tmp/tests"
for file in "$src"/claims/*.yaml; do
	# the same with any build
	[ -z "${WEFT_SLOW:-}" ] || break
	system=$(basename "$file" .yaml)
	list "$file" >"$tmp/list"
	[ -s "$tmp/list" ] || complain "no features"
	check_lines <"$tmp/list"
	check_functions "$tmp/list"
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
	part=$(grep ' part ' "$tmp/list" | cut -d ' ' -f 1 | uniq | wc -l)
	jq -e ".$system | .features == $(last "$system") and
		.covered == $covered and (.in_part | length) == $part and
		(.missing | length) == .features - .covered - $part" \
		"$tmp/out" >/dev/null || complain "$(head -c 200 "$tmp/out")"
	report "$system: weft claims counts the same"

	# Each change of a mutant has one place; scripts/mutants makes them.
	misplaced "$tmp/out" >"$tmp/misplaced" || complain "no answer"
	[ -s "$tmp/misplaced" ] && complain "$(cat "$tmp/misplaced")"
	report "$system: every mutant applies"
done

# --- the command ---

run claims --json
jq -e 'has("bgq") and (.bgq.missing | type == "array") and
	(.qsnet2.missing | type == "array")' "$tmp/out" >/dev/null ||
	complain "$(cat "$tmp/err")"
report "without a system all are told"
run claims
for row in 'bgq 140' 'qsnet2 89' 'gemini 62' 'apenet 40' 'sunway 97'; do
	grep -q "^${row% *}  *[0-9][0-9]*  *[0-9][0-9]*  *${row#* } " \
		"$tmp/out" || complain "$(cat "$tmp/out")"
done
report "the table has covered, in part and total"
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
broken 'a part without what is not there' 'in part needs lacks' <<-EOF
	features:
	  - { id: X-F1, what: a, status: in part, tests: [a:b],
	      mutant: { file: a, find: b, put: c } }
EOF
broken 'a part without a mutant' 'needs tests and a mutant' <<-EOF
	features:
	  - { id: X-F1, what: a, status: in part, lacks: b, tests: [a:b] }
EOF
broken 'several mutants without a name' 'bad.yaml:6:[0-9]*: .* a part' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b],
	      mutants: [{ file: a, find: b, put: c }] }
EOF
broken 'a mutant beside several' 'bad.yaml:7:[0-9]*: want one mutant' <<-EOF
	features:
	  - { id: X-F1, what: a, status: covered, tests: [a:b],
	      mutants: [{ part: p, file: a, find: b, put: c }],
	      mutant: { file: a, find: b, put: c } }
EOF
broken 'another status' 'covered, in part or missing' <<-EOF
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
		echo "  - { id: X-F1, what: a, status: in part, lacks: b,"
		echo "      tests: ['$test'], mutants: ["
		while IFS='|' read -r find put; do
			echo "      { part: p, file: src/base/crc32.c,"
			echo "        find: '$find', put: '$put' },"
		done <<-'EOF'
			return ~x;|return x;
			return ~x;|return    ~x;
			x & 15|x & 7
			return ~x;|return ~y;
			return ~x;|for (;;);
		EOF
		echo "      ] }"
	} >"$tmp/claims/bad.yaml"
	CLAIMS=$tmp/claims SCRATCH=$tmp/mutants PATIENCE=2 JOBS=1 \
		"$src/scripts/mutants" X-F1 >"$tmp/out" 2>&1
	[ $? -eq 1 ] || complain 'it did not end with 1'
	verdict X-F1/1 'killed'
	verdict X-F1/2 'SURVIVED'
	verdict X-F1/3 'DOES NOT APPLY: src/base/crc32.c: .* 2 times'
	verdict X-F1/4 'DOES NOT COMPILE'
	verdict X-F1/5 'killed.* does not end'
	grep -qx '2 could not be tried' "$tmp/out" &&
		grep -qx '2 killed, 1 survived' "$tmp/out" ||
		complain "$(tail -n 12 "$tmp/out")"
	report 'a mutant is killed, survives, does not apply or compile'
fi

# --- numbers of features in texts ---

# "134 of 140 for Blue Gene/Q" and "62 features" are numbers of `weft claims`.
WEFT_CLAIMS=$src/claims "$weft" claims --json |
	jq -r '.[] | objects | select(has("features")) |
	"\(.covered) of \(.features) for", "\(.features) features"' |
	sort -u >"$tmp/said"
[ "$(wc -l <"$tmp/said")" -gt 8 ] || complain "$(cat "$tmp/said")"
for text in "$src"/NEWS "$src"/README.md "$src"/doc/*.md "$src"/man/*.scd; do
	tr '\n' ' ' <"$text" | tr -s ' ' |
		grep -oE '[0-9]+ (of [0-9]+ for|features)' | sort -u |
		grep -vxFf "$tmp/said" | while read -r number; do
		echo "$(basename "$text"): $number"
	done
done >"$tmp/out"
[ ! -s "$tmp/out" ] || complain "$(cat "$tmp/out")"
report 'numbers of features in texts are those of weft claims'

exit $status
