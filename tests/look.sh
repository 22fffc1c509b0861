# Looks at reports in a browser; to be sourced behind tap.sh.

# Whether there is one, and time for it.
can_look() {
	command -v chromium >/dev/null && [ -z "${WEFT_SLOW:-}" ]
}

# attribute NAME: what the page noted of itself
attribute() {
	sed -n "s/^<html[^>]* data-$1=\"\([^\"]*\)\".*/\1/p" "$tmp/dom"
}

look() { # PAGE
	timeout 60 chromium --headless --no-sandbox --disable-gpu \
		--disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync \
		--user-data-dir="$tmp/profile" --virtual-time-budget=4000 \
		--dump-dom "file://$1#selftest" >"$tmp/dom" 2>/dev/null
	[ -n "$(attribute ready)" ] || complain 'it did not get ready'
	[ -z "$(attribute error)" ] || complain "error: $(attribute error)"
	[ -z "$(attribute wrong)" ] || complain "wrong: $(attribute wrong)"
}
