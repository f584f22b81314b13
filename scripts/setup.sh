# shellcheck shell=bash
# What ./run, ./test and the other scripts share: finding Swift, and the Debian packages the build
# and the program need. Sourced, never run. Everything it says goes to standard error.

# The exit code for "something this needs is not here" (EX_UNAVAILABLE of sysexits.h).
readonly unavailable=69

readonly minimum_swift=6.2

# Build: the libraries with a pkg-config file, those that decode PNG, WebP, AVIF and JPEG XL directly
# (libvips-dev brings all but libavif-dev, too), and the C and C++ headers that the Swift packages' own
# C sources include; SwiftPM fetches with git over TLS.
# Run: libvips brings its HEIC, AVIF, JPEG XL, SVG and PDF loaders by plain dependencies; text in an
# SVG needs a font. The encoders of HEIC and AVIF are in packages of their own in newer releases
# (heif_encoders).
readonly build_packages=(
    libvips-dev libdeflate-dev libwebp-dev libavif-dev libjxl-dev libsqlite3-dev libxxhash-dev
    libcurl4-openssl-dev libssl-dev zlib1g-dev libbrotli-dev libzstd-dev libglib2.0-dev pkg-config
    gcc g++ libc6-dev git ca-certificates
    fonts-dejavu-core
)

# What HalcyonGTK is built with; the program halcyon is built and runs without.
readonly gtk_packages=(libgtk-4-dev)

# The display server of the tests, with the xauth that xvfb only recommends; Python, and openssl for certificates, for the
# tests from outside (scripts/hostile and scripts/soak); Redis, which image servers share; curl and nginx for the guide
# to the server. The browser is for the tests of the server's page.
readonly test_packages=(xvfb xauth python3 openssl redis-server curl nginx-light)
readonly page_packages=(chromium chromium-driver)

# Python for what scripts/iiif-validate and scripts/metrics-validate take from PyPI, and the server of metrics,
# whose promtool reads them, too.
readonly validator_packages=(python3 python3-venv libmagic1 curl prometheus)

# What scripts/cluster-test puts before and between image servers, openssl for certificates and ip for networks
# that can be cut; SeaweedFS and moto come from PyPI.
readonly cluster_packages=(
    haproxy nginx-light redis-server wrk curl openssl iproute2 python3 python3-venv
)

# What scripts/crash-test interrupts processes with.
readonly crash_packages=(strace)

# What scripts/package-debian makes packages with, and scripts/package-check tries them with.
readonly package_packages=(dpkg-dev debhelper python3)
readonly package_check_packages=(lintian appstream desktop-file-utils zsh fish)

# The peers of the benchmarks: libraries of Python in an environment of its own, and a program.
readonly benchmark_packages=(python3 python3-venv curl nginx-light openssl)

# What image servers are measured with, and the one among them that is a package of its own.
readonly server_benchmark_packages=(wrk nginx-light python3 python3-venv)
readonly server_peer_packages=(libnginx-mod-http-image-filter)

# How programs are built, all of them with Swift's runtime in them: those that are tested and measured are those that
# packages contain.
readonly release_build=(-c release --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld)

say() {
    printf '==> %s\n' "$*" >&2
}

# Says the first line as an error, the others below it, and leaves.
fail() {
    printf 'error: %s\n' "$1" >&2
    if (($# > 1)); then printf '%s\n' "${@:2}" >&2; fi
    exit "$unavailable"
}

# Runs a command that may download something, and again, after a while, when that has failed: networks and
# registries have bad moments.
again() {
    local pause
    for pause in 5 20 60; do
        if "$@"; then return; fi
        say "Trying again in $pause seconds: $*"
        sleep "$pause"
    done
    "$@"
}

# Fetches the packages of Swift that are missing; arguments say where, as for swift package. What cannot be
# fetched is said by the build.
fetch_swift_packages() {
    again swift package "$@" resolve >&2 || true
}

# Sets swift_version, or leaves when there is no Swift of at least the version the manifest asks for.
require_swift() {
    command -v swift >/dev/null ||
        fail "Swift $minimum_swift or newer is needed, and there is no 'swift' in PATH." \
            "Install it from https://www.swift.org/install/linux and try again."

    local text
    text=$(swift --version 2>&1) ||
        fail "Swift $minimum_swift or newer is needed, and $(command -v swift) does not start:" "$text"
    [[ $text =~ Swift\ version\ ([0-9]+)\.([0-9]+)[^\ ]* ]] ||
        fail "Swift $minimum_swift or newer is needed; $(command -v swift) says: $text"

    swift_version=${BASH_REMATCH[0]#Swift version }
    local major="${minimum_swift%.*}" minor="${minimum_swift#*.}"
    if ((BASH_REMATCH[1] < major || (BASH_REMATCH[1] == major && BASH_REMATCH[2] < minor))); then
        fail "Swift $minimum_swift or newer is needed; $(command -v swift) is $swift_version." \
            "Install a newer one from https://www.swift.org/install/linux and try again."
    fi
}

# Prints those of the packages that are not installed.
missing_packages() {
    local package status
    for package in "$@"; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
        [[ $status == installed ]] || printf '%s\n' "$package"
    done
}

# Prints the packages of the encoders of AVIF and HEIC, where they are no parts of libheif itself: the
# installed libheif recommends them then, and recommended packages are not installed here.
heif_encoders() {
    dpkg-query -W -f '${Depends}, ${Recommends}, ${Suggests}' libheif1 2>/dev/null |
        grep -oE 'libheif-plugin-(aomenc|x265)' | sort -u || true
}

# Installs those of the packages that are missing, or leaves saying which they are.
require_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "This is no Debian system, so nothing is installed. Needed (by their Debian names): $*"
        return
    fi

    require_installed "$@"
    local encoders
    mapfile -t encoders < <(heif_encoders)
    require_installed "${encoders[@]}"
}

# require_packages for a system that has packages.
require_installed() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} > 0)) || return 0

    local as_root=()
    if (($(id -u) != 0)); then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            fail "Packages are missing: ${missing[*]}" "Install them and try again:" \
                "    sudo apt-get install --no-install-recommends ${missing[*]}"
        fi
        as_root=(sudo -n)
    fi

    # A fresh image has no package lists at all.
    if ! apt-cache show --no-all-versions "${missing[@]}" >/dev/null 2>&1; then
        update_package_lists
    fi
    say "Installing ${missing[*]}"
    if ! install_packages; then
        # Old lists name versions that the mirrors no longer have.
        update_package_lists
        again install_packages || fail "apt-get could not install: ${missing[*]}"
    fi
}

# The two halves of require_installed that call apt-get; they use its variables.
update_package_lists() {
    say "Updating the package lists"
    again "${as_root[@]}" apt-get update -qq -o Acquire::Retries=3 >&2 ||
        fail "apt-get update failed; missing: ${missing[*]}"
}

install_packages() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends -o Acquire::Retries=3 "${missing[@]}" >&2
}
