// Package templates holds what is laid out and not decided: packs of line-oriented languages, files of hosts, dashboards,
// alert rules, the scaffold of a repo.
package templates

import "embed"

// FS holds every file with an extension one folder down: eos/pack.yaml, repo/README.md.tmpl. What lies deeper, such as
// goldens, is not part of it.
//
//go:embed */*.*
var FS embed.FS
