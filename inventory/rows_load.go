package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory/catalog"
)

// rows adds what the documents of kind Catalog say to the catalog: chips before the SKUs that name them.
func (l *loader) rows(fsys fs.FS, docs []*catalogDoc) {
	if len(docs) == 0 {
		return
	}
	l.inventory.Catalog = &catalog.Catalog{}
	var chips, skus, nics, bugs []named
	for _, doc := range docs {
		for i := range doc.ASICs {
			chips = append(chips, named{doc.ASICs[i].Name, func() { l.asic(&doc.ASICs[i]) }})
		}
		for i := range doc.SKUs {
			skus = append(skus, named{doc.SKUs[i].Name, func() { l.sku(fsys, &doc.SKUs[i]) }})
		}
		for i := range doc.NICs {
			nics = append(nics, named{doc.NICs[i].Name, func() { l.nic(&doc.NICs[i]) }})
		}
		for i := range doc.Bugs {
			bugs = append(bugs, named{doc.Bugs[i].Name, func() { l.bug(&doc.Bugs[i]) }})
		}
	}
	l.once("chip", chips)
	l.once("SKU", skus)
	l.once("NIC", nics)
	l.once("fault", bugs)
}

// named is a row of one name, and what takes it into the catalog.
type named struct {
	name source.Value[string]
	take func()
}

// once takes the first row of every name, and finds those that follow it.
func (l *loader) once(kind string, rows []named) {
	first := map[string]diag.Pos{}
	for _, row := range rows {
		before, taken := first[row.name.V]
		switch {
		case !row.name.Set():
		case taken:
			l.errorf(addr.Addr{}, "Keep one of the two.", []diag.Pos{before, row.name.At}, "the %s %s has two rows", kind, row.name.V)
		default:
			first[row.name.V] = row.name.At
			row.take()
		}
	}
}

// put sets what was written, and leaves what was not.
func put[T any](dst *T, v source.Value[T]) {
	if v.Set() {
		*dst = v.V
	}
}

// cited is the source of a row that the operator wrote: what it says, else its place, before that of the row below it.
func cited(own source.Value[string], at diag.Pos, below string) string {
	said := own.V
	if said == "" {
		said = at.String()
	}
	return strings.TrimSuffix(said+"; "+below, "; ")
}

func (l *loader) asic(r *asicRow) {
	row, _ := l.inventory.Catalog.ASIC(r.Name.V)
	row.Name, row.Source = r.Name.V, cited(r.Source, r.At, row.Source)
	if r.Buffer.Set() {
		row.BufferSource = cited(r.Source, r.At, "")
	}
	put(&row.Buffer, r.Buffer)
	put(&row.Cell, r.Cell)
	put(&row.PipelineLatency, r.PipelineLatency)
	put(&row.MACPHYDelay, r.MACPHYDelay)
	put(&row.PeerResponse, r.PeerResponse)
	put(&row.LosslessClasses, r.LosslessClasses)
	put(&row.AlphaMin, r.AlphaMin)
	put(&row.AlphaMax, r.AlphaMax)
	put(&row.ThresholdUnit, r.ThresholdUnit)
	if r.MACPHYDelay.Set() {
		row.MACPHYDelayKiB = float64(r.MACPHYDelay.V) / 1024
	}
	if r.PeerResponse.Set() {
		row.PeerResponseKiB = float64(r.PeerResponse.V) / 1024
	}
	if r.Model.Set() || row.Model == "" {
		row.Model = catalog.HeadroomModel(r.Model.Or(source.Value[string]{V: string(catalog.Annex)}).V)
	}
	row.ECN, row.Watchdog = able(row.ECN, r.ECN), able(row.Watchdog, r.Watchdog)
	l.sound(r, &row)
	l.inventory.Catalog.SetASIC(row)
}

// able is what the operator says of an ability, and else what is known.
func able(known catalog.Ability, said source.Value[bool]) catalog.Ability {
	switch {
	case !said.Set():
		return known
	case said.V:
		return catalog.Yes
	}
	return catalog.No
}

// sound finds rows of chips that contradict themselves or lack what their model needs.
func (l *loader) sound(r *asicRow, row *catalog.ASIC) {
	if row.AlphaMin > row.AlphaMax {
		at := slices.DeleteFunc([]diag.Pos{r.AlphaMin.At, r.AlphaMax.At}, func(p diag.Pos) bool { return p.Line == 0 })
		l.errorf(addr.Addr{}, "Write the smaller threshold as alphaMin: 1/128 is smaller than 8.", at,
			"the chip %s has alphaMin %s above alphaMax %s", row.Name, row.AlphaMin, row.AlphaMax)
	}
	if row.Model != catalog.Cell {
		return
	}
	var missing []string
	for _, needed := range []struct {
		key   string
		value qos.Bytes
	}{{"cell", row.Cell}, {"pipelineLatency", row.PipelineLatency}, {"macPhyDelay", row.MACPHYDelay}, {"peerResponse", row.PeerResponse}} {
		if needed.value == 0 {
			missing = append(missing, needed.key)
		}
	}
	if len(missing) > 0 {
		l.errorf(addr.Addr{}, "The cell model adds up what is on its way when PAUSE is sent, and rounds it up to cells. Write these sizes as the vendor gives them, or model: annex, which needs none of them.",
			[]diag.Pos{r.At}, "the cell model of the chip %s needs %s", row.Name, strings.Join(missing, ", "))
	}
}

// computed is the word for a switch that works its headroom out and looks nothing up, in place of a file.
const computed = "computed"

func (l *loader) sku(fsys fs.FS, r *skuRow) {
	row, known := l.inventory.Catalog.SKU(r.Name.V)
	row.Name, row.Source = r.Name.V, cited(r.Source, r.At, row.Source)
	put(&row.ASIC, r.ASIC)
	put(&row.Computes, r.Computes)
	if !known && !r.ASIC.Set() && !r.Headroom.Set() {
		l.errorf(addr.Addr{}, "Write asic: NAME, the chip in the switch, or headroom: FILE, the vendor's table; without one of them nothing is known of it.",
			[]diag.Pos{r.At}, "nothing is said of the SKU %s", r.Name.V)
	}
	if _, there := l.inventory.Catalog.ASIC(row.ASIC); r.ASIC.Set() && !there {
		l.errorf(addr.Addr{}, "Write it as the catalog does, or add a row for it to asics.", []diag.Pos{r.ASIC.At},
			"the chip %q is not in the catalog%s", r.ASIC.V, source.DidYouMean(r.ASIC.V, l.inventory.Catalog.ASICs()))
	}
	switch {
	case r.Headroom.V == computed:
		row.Table, row.Computes = nil, true
	case r.Headroom.Set():
		if table := l.table(fsys, r.Headroom); table != nil {
			table.Name = fmt.Sprintf("%s (%s)", r.Name.V, r.Headroom.V)
			row.Table = table
		}
	}
	l.inventory.Catalog.SetSKU(row)
}

// table reads a vendor's table of headroom; nil where it cannot be read. A row that cannot be read is a finding in its file.
func (l *loader) table(fsys fs.FS, file source.Value[string]) *catalog.Table {
	const want = "Put the table into inventory/ and give the file relative to the folder that holds fabric.yaml, like inventory/tables/leaf.ini, or write computed. " + catalog.WhereTablesAre
	if !fs.ValidPath(file.V) || !strings.HasPrefix(file.V, "inventory/") || path.Ext(file.V) != ".ini" {
		l.errorf(addr.Addr{}, want, []diag.Pos{file.At}, "%q is not a file of inventory/ that ends with .ini", file.V)
		return nil
	}
	body, err := source.ReadFile(fsys, file.V)
	if err != nil {
		l.errorf(addr.Addr{}, want, []diag.Pos{file.At}, "the table of headroom cannot be read: %v", err)
		return nil
	}
	table, findings := catalog.ParseTable(file.V, body)
	l.findings = append(l.findings, findings...)
	if len(table.Rows) == 0 && len(findings) == 0 {
		l.errorf(addr.Addr{}, "A switch with a table without rows reserves no headroom and drops. Give a table with rows, or remove the key.",
			[]diag.Pos{file.At}, "the table %s has no rows", file.V)
	}
	return table
}

func (l *loader) nic(r *nicRow) {
	row := catalog.NIC{}
	if known := l.inventory.Catalog.ByNIC(r.Name.V); known != nil {
		row = *known
	}
	row.Name, row.At, row.Source = r.Name.V, r.At, cited(r.Source, r.At, row.Source)
	if len(r.RoCE) > 0 {
		row.RoCE = nil
		for _, v := range r.RoCE {
			row.RoCE = append(row.RoCE, v.V)
		}
		slices.Sort(row.RoCE)
		row.RoCE = slices.Compact(row.RoCE)
	}
	put(&row.Firmware, r.Firmware)
	put(&row.Driver, r.Driver)
	put(&row.Generation, r.Generation)
	l.inventory.Catalog.SetNIC(row)
}

func (l *loader) bug(r *bugRow) {
	for _, name := range r.ASICs {
		if _, there := l.inventory.Catalog.ASIC(name); !there {
			l.errorf(addr.Addr{}, "A fault of a chip that no switch has is never told of. Write it as the catalog does, or add a row for it to asics.", []diag.Pos{r.At},
				"the chip %q is not in the catalog%s", name, source.DidYouMean(name, l.inventory.Catalog.ASICs()))
		}
	}
	l.inventory.Catalog.SetBug(catalog.Bug{
		Name: r.Name.V, Platform: r.Platform.V, ASICs: r.ASICs, Releases: r.Releases, Action: qos.WatchdogAction(r.Action.V),
		Summary: r.Summary.V, Remedy: r.Remedy.V, Source: cited(r.Source, r.At, ""), At: r.At,
	})
}
