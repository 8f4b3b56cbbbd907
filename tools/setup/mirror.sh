# shellcheck shell=bash
# Where this machine gets its Debian packages from, out of apt's own configuration. Sourced; needs no network.
# Output of the readers: one line per entry and suite, "URI SUITE COMPONENT...", enabled binary entries only.

# read_one_line_sources FILE...: the old format, "deb [options] URI SUITE COMPONENT..."
read_one_line_sources() {
  awk '
    /^[ \t]*deb[ \t]/ {
      sub(/#.*/, ""); sub(/^[ \t]*deb[ \t]+/, ""); sub(/^\[[^]]*\][ \t]*/, "")
      $1 = $1
      if (NF >= 2) print
    }' "$@"
}

# read_deb822_sources FILE...: the new format, paragraphs of "Field: value" with continuation lines
read_deb822_sources() {
  awk '
    function flush_entry(   i, j, u, s, nu, ns) {
      if (field["types"] ~ /(^|[ \t])deb([ \t]|$)/ && tolower(field["enabled"]) !~ /no|false|0/) {
        nu = split(field["uris"], u); ns = split(field["suites"], s)
        for (i = 1; i <= nu; i++) for (j = 1; j <= ns; j++) print u[i], s[j], field["components"]
      }
      delete field; name = ""
    }
    FNR == 1 { flush_entry() }
    /^#/ { next }
    /^[ \t]*$/ { flush_entry(); next }
    /^[ \t]/ { if (name != "") field[name] = field[name] " " $0; next }
    { name = tolower($0); sub(/:.*/, "", name); value = $0; sub(/^[^:]*:[ \t]*/, "", value); field[name] = value }
    END { flush_entry() }' "$@"
}

# apt_entries APT_FOLDER: all entries below a folder like /etc/apt
apt_entries() {
  local folder=$1 file
  for file in "$folder"/sources.list "$folder"/sources.list.d/*.list; do
    if [[ -r $file ]]; then read_one_line_sources "$file"; fi
  done
  for file in "$folder"/sources.list.d/*.sources; do
    if [[ -r $file ]]; then read_deb822_sources "$file"; fi
  done
}

# debian_mirrors APT_FOLDER CODENAME: URIs that carry Debian's main archive, likeliest first, without duplicates.
# Other vendors' repositories can look alike; whoever uses the list tries each, and the archive's signature decides.
debian_mirrors() {
  apt_entries "$1" | awk -v codename="$2" '
    function has_main(   i) { for (i = 3; i <= NF; i++) if ($i == "main") return 1; return 0 }
    has_main() && ($2 == codename || $2 ~ /^(oldstable|stable|testing|unstable|sid)$/) {
      uri = $1; sub(/\/+$/, "", uri)
      if (seen[uri]++) next
      if (uri ~ /\/debian$/) first[++nf] = uri; else later[++nl] = uri
    }
    END { for (i = 1; i <= nf; i++) print first[i]; for (i = 1; i <= nl; i++) print later[i] }'
}

# plain_mirror URI: what programs other than apt understand: a list of mirrors (mirror+file:/path) becomes its first member
plain_mirror() {
  case $1 in
    mirror+file:*) awk '!/^[ \t]*(#|$)/ { sub(/\/+$/, "", $1); print $1; exit }' "${1#mirror+file:}" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

apt_folder() {
  local etc=/etc/apt
  if command -v apt-config >/dev/null; then eval "$(apt-config shell etc Dir::Etc/d)"; fi
  printf '%s\n' "${etc%/}"
}

# shellcheck source=/dev/null
this_codename() { (. /etc/os-release 2>/dev/null && printf '%s\n' "${VERSION_CODENAME:-}") || true; }

machine_mirrors() { debian_mirrors "$(apt_folder)" "$(this_codename)"; }
