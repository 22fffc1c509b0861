# Installs what there is below $tmp, for tests of programs from outside; to be
# sourced after tap.sh.  Needs $WEFT, in its build directory.
build=$(dirname "$(dirname "$weft")")
cc=${CC:-cc}

for tool in meson pkg-config "${cc%% *}"; do
	command -v "$tool" >/dev/null || exit 77
done

meson install -C "$build" --no-rebuild --destdir "$tmp/root" \
	>"$tmp/log" 2>&1 || complain "$(tail -n 5 "$tmp/log")"
pc=$(find "$tmp/root" -name weft.pc)
[ -n "$pc" ] || complain "no weft.pc"
report "what programs need is installed"
[ $status -eq 0 ] || exit $status

prefix=$tmp/root$(sed -n 's/^prefix=//p' "$pc")
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --define-variable=prefix="$prefix" --variable=libdir weft)
# Where programs find libweft.so.
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# What pkg-config says does not change, and it takes as long as a compiler.
ask() { # OPTIONS of pkg-config
	pkg-config --define-variable=prefix="$prefix" "$@" weft
}
cflags=$(ask --cflags)
libs_shared=$(ask --libs)
libs_static=$(ask --libs --static | sed 's/-lweft/-l:libweft.a/')
libs() { # static or shared: as with -static, but for libraries of the system
	case $1 in
	static) echo "$libs_static" ;;
	*) echo "$libs_shared" ;;
	esac
}
compile() { # static or shared, CC's ARGUMENTS; what it says is complained of
	kind=$1
	shift
	$cc -std=c11 -Wall -Wextra -Werror ${CFLAGS-} $cflags "$@" \
		$(libs "$kind") >"$tmp/log" 2>&1 && return
	complain "$kind: $(head -n 5 "$tmp/log")"
	return 1
}
