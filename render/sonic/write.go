package sonic

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// Write says what CONFIG_DB must hold. The findings are what SONiC cannot hold and the ranges that its YANG models set.
func (Language) Write(sw *fabric.Switch) (plan.Document, diag.List) {
	w := writer{
		builder: newBuilder(sw.Name, 192+32*len(sw.Ports)), sw: sw,
		schedulers: newNames[scheduler](), curves: newNames[curve](), noted: map[string][]string{},
		pfcToGroup: mapsPFCToGroup(sw) && sw.PausedPriorities() != 0,
	}
	w.name()
	w.maps()
	for _, p := range byKey(sw.Ports) {
		w.port(p)
	}
	w.shared()
	w.buffers()
	w.several()
	w.sort()
	w.findings = append(w.findings, Validate(w.doc)...)
	return w.doc, w.findings
}

// byKey are ports in the order of the keys that begin with their names, so that what is written needs little sorting.
func byKey(ports []*fabric.Port) []*fabric.Port {
	return slices.SortedFunc(slices.Values(ports), func(a, b *fabric.Port) int {
		if rest, longer := strings.CutPrefix(a.Name, b.Name); longer && rest != "" {
			return strings.Compare(rest, "|")
		}
		if rest, longer := strings.CutPrefix(b.Name, a.Name); longer && rest != "" {
			return strings.Compare("|", rest)
		}
		return strings.Compare(a.Name, b.Name)
	})
}

type writer struct {
	*builder
	sw         *fabric.Switch
	schedulers *names[scheduler]
	curves     *names[curve]
	pfcToGroup bool // the switch has a map from PFC priorities to groups
	findings   diag.List
	noted      map[string][]string // a finding's summary -> the ports that it holds for
}

// numbers are the decimal words of all code points.
var numbers = func() (words [64]string) {
	for i := range words {
		words[i] = strconv.Itoa(i)
	}
	return words
}()

// maps writes the maps that some port uses. That of PFC priorities to groups, where the switch has it, is of lossless priorities.
func (w *writer) maps() {
	trust := map[qos.Trust]bool{w.sw.Trust: true}
	for _, p := range w.sw.Ports {
		trust[p.Trust] = true
	}
	for _, q := range qosMaps {
		if q.table == tableDSCP && !trust[qos.TrustDSCP] || q.table == tablePCP && !trust[qos.TrustPCP] || q.table == tablePFCGroup && !w.pfcToGroup {
			continue
		}
		object := object(q.table, azure)
		for from := range fabric.MapSize(q.name) {
			if q.table != tablePFCGroup || w.sw.PausedPriorities().Has(qos.Priority(from)) {
				w.add(q.table, azure, numbers[from], numbers[w.sw.Maps.Entry(q.name, from)&63], object)
			}
		}
	}
}

// mapsPFCToGroup says whether the platform has PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: SONiC's own template writes it for
// mellanox and barefoot only, and only for lossless priorities (sonic-buildimage files/build_templates/qos_config.j2). Of
// these the catalog knows Spectrum.
func mapsPFCToGroup(sw *fabric.Switch) bool {
	return sw.ASIC != nil && strings.HasPrefix(sw.ASIC.Name, "Spectrum")
}

func number[T ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// cannot notes what the language cannot say of a port.
func (w *writer) cannot(p *fabric.Port, summary string, at []diag.Pos) {
	w.note(diag.Error, p, summary, at)
}

// note makes one finding of what is the same on many ports; several lists the others when all are known.
func (w *writer) note(severity diag.Severity, p *fabric.Port, summary string, at []diag.Pos) {
	if _, known := w.noted[summary]; !known {
		w.findings.Add(diag.Diagnostic{Severity: severity, Check: check, Addr: addr.Port(w.sw.Name, p.Name), Summary: summary, At: at})
	}
	if ports := w.noted[summary]; !slices.Contains(ports, p.Name) {
		w.noted[summary] = append(ports, p.Name)
	}
}

func (w *writer) several() {
	for i := range w.findings {
		if ports := w.noted[w.findings[i].Summary]; len(ports) > 1 {
			w.findings[i].Detail = "The same holds for " + strings.Join(ports[1:], ", ") + "."
		}
	}
}

// check is the name of this language's findings.
const check = "sonic"

// origin says where a port's settings were written, as far as that is known.
func origin(p *fabric.Port) *fabric.Origin {
	if p.Origin == nil {
		return &fabric.Origin{}
	}
	return p.Origin
}
