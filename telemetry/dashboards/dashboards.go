// Package dashboards lays out what shows weir's metrics: Grafana dashboards, and rules for Prometheus and Alertmanager.
package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// File is a file to write.
type File struct {
	Name string // grafana/weir-fabric.json
	Body []byte
}

// PanelQuery is one query of one panel.
type PanelQuery struct {
	Dashboard, Panel string
	Expr             string // as in the dashboard, with its variables
}

// Plain is the query without Grafana's variables: of everything, with the rate over the interval given, as 1m.
func (q PanelQuery) Plain(interval string) string {
	return strings.NewReplacer("$__rate_interval", interval, "$device", ".*", "$port", ".*").Replace(q.Expr)
}

// columns is how wide a dashboard is.
const columns = 24

// dashboard is one of dashboards.yaml.
type dashboard struct {
	File, UID, Title string
	Variables        []variable
	Panels           []panel
}

type variable struct{ Name, Query string }

type panel struct {
	Title, Description, Kind, Unit string
	Width, Height                  int
	Instant                        bool
	Bad                            int    // the value from which a stat is red; 0: none
	Row, Column                    string // labels, of a matrix
	Queries                        []query
	ID, X, Y                       int `yaml:"-"`
}

type query struct {
	Expr, Legend string
	RefID        string `yaml:"-"`
}

// Type is the panel's type in Grafana.
func (p panel) Type() string {
	if p.Kind == "matrix" {
		return "table"
	}
	return p.Kind
}

// Format is how the result of the panel's queries is returned.
func (p panel) Format() string {
	if p.Type() == "table" {
		return "table"
	}
	return "time_series"
}

// Verdicts says whether the values of the panel are verdicts, to be shown as words.
func (p panel) Verdicts() bool {
	for _, q := range p.Queries {
		if strings.HasPrefix(q.Expr, "weir_verdict") || strings.HasPrefix(q.Expr, "weir_port_verdict") {
			return true
		}
	}
	return false
}

// Files are all files, from the folders grafana and prometheus of the templates.
func Files(templates fs.FS) ([]File, error) {
	boards, err := read(templates)
	if err != nil {
		return nil, err
	}
	layout, err := template.New("dashboard.json.tmpl").Option("missingkey=error").
		Funcs(template.FuncMap{"json": quote}).ParseFS(templates, "grafana/dashboard.json.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the layout of dashboards: %w", err)
	}
	var out []File
	for _, d := range boards {
		var b bytes.Buffer
		if err := layout.Execute(&b, d); err != nil {
			return nil, fmt.Errorf("lay out %s: %w", d.File, err)
		}
		out = append(out, File{Name: path.Join("grafana", d.File), Body: b.Bytes()})
	}
	rules, err := fs.Glob(templates, "prometheus/*.yml")
	if err != nil {
		return nil, err
	}
	for _, name := range rules {
		body, err := fs.ReadFile(templates, name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: name, Body: body})
	}
	return out, nil
}

// Queries are the queries of all panels.
func Queries(templates fs.FS) ([]PanelQuery, error) {
	boards, err := read(templates)
	if err != nil {
		return nil, err
	}
	var out []PanelQuery
	for _, d := range boards {
		for _, p := range d.Panels {
			for _, q := range p.Queries {
				out = append(out, PanelQuery{d.Title, p.Title, q.Expr})
			}
		}
	}
	return out, nil
}

// read decodes the dashboards and gives panels their places.
func read(templates fs.FS) ([]dashboard, error) {
	const name = "grafana/dashboards.yaml"
	body, err := fs.ReadFile(templates, name)
	if err != nil {
		return nil, fmt.Errorf("read the dashboards: %w", err)
	}
	var file struct{ Dashboards []dashboard }
	strict := yaml.NewDecoder(bytes.NewReader(body))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, d := range file.Dashboards {
		place(d.Panels)
	}
	return file.Dashboards, nil
}

// place fills rows from the left.
func place(panels []panel) {
	x, y, height := 0, 0, 0
	for i := range panels {
		p := &panels[i]
		if x+p.Width > columns {
			x, y, height = 0, y+height, 0
		}
		p.ID, p.X, p.Y = i+1, x, y
		x, height = x+p.Width, max(height, p.Height)
		for j := range p.Queries {
			p.Queries[j].RefID = string(rune('A' + j))
		}
	}
}

// quote writes a JSON string.
func quote(s string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return strings.TrimSpace(b.String()), err
}
