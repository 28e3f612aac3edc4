package inventory

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/templates"
)

// modelsFile is where the models of switches for a scaffold are written.
const modelsFile = "repo/models.yaml"

// modelsDoc is a document of kind Models.
type modelsDoc struct {
	Models []model `yaml:"models,required" doc:"The models."`
}

// model is a switch that a scaffold can be made of.
type model struct {
	Platform   source.Value[string]      `yaml:"platform,required" form:"name" doc:"The platform."`
	SKU        source.Value[string]      `yaml:"sku,required" form:"model" doc:"The SKU, as the catalog has it."`
	Ports      source.Value[string]      `yaml:"ports,required" doc:"The names of its ports, as a range."`
	Speed      source.Value[qos.Rate]    `yaml:"speed,required" doc:"The speed of its ports."`
	Lanes      source.Value[int]         `yaml:"lanes,required" min:"1" max:"16" doc:"The lanes of each port."`
	Guaranteed source.Value[qos.Percent] `yaml:"guaranteed" doc:"What a lossless queue needs for the watchdog to watch it."`
	ports      []string
}

// models reads the models of the scaffold's templates.
func models() ([]model, error) {
	body, err := fs.ReadFile(templates.FS, modelsFile)
	if err != nil {
		return nil, fmt.Errorf("read the models of switches: %w", err)
	}
	g := source.NewGrammar(source.Kind{Name: "Models", Doc: "Models of switches.", Type: reflect.TypeFor[modelsDoc]()})
	documents, findings := g.Read(modelsFile, body)
	if len(findings) > 0 {
		return nil, fmt.Errorf("read the models of switches: %s", findings)
	}
	all := documents[0].Value.(*modelsDoc).Models
	for i := range all {
		if all[i].ports, err = Spread(all[i].Ports.V); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].SKU.At, err)
		}
	}
	return all, nil
}

// first is the model with its first n ports alone; 0 is all.
func (m model) first(n int) (*model, error) {
	if n == 0 {
		return &m, nil
	}
	if n < 0 || n > len(m.ports) {
		return nil, fmt.Errorf("%s/%s has %d ports, not %d", m.Platform.V, m.SKU.V, len(m.ports), n)
	}
	m.ports, m.Ports.V = m.ports[:n], shorten(m.Ports.V, n)
	return &m, nil
}

// pick finds a model by its platform, or by platform/SKU.
func pick(all []model, name string) (*model, error) {
	platform, sku, _ := strings.Cut(name, "/")
	var known []string
	for i := range all {
		m := &all[i]
		if m.Platform.V == platform && (sku == "" || m.SKU.V == sku) {
			return m, nil
		}
		known = append(known, m.Platform.V, m.Platform.V+"/"+m.SKU.V)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return nil, fmt.Errorf("no switch is known as %q%s (known: %s)", name, source.DidYouMean(name, known), strings.Join(known, ", "))
}
