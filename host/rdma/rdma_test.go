package rdma

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

func eth0() *fabric.NIC {
	return &fabric.NIC{
		Name: "eth0", RDMA: "mlx5_0", Model: catalog.Builtin().ByNIC("ConnectX-6"), RoCE: 2, TOS: 106, PFC: qos.Priorities(3, 4),
		DCQCN: true, CNP: "cnp", CNPDSCP: 48, CNPPriority: 6,
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	want, findings := Write("gpu1", eth0())
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	ecn := "/sys/class/net/eth0/ecn/"
	got := Read("gpu1", eth0(), map[string]string{
		"eth0/roce-mode": "RoCE v2\n", "eth0/roce-tos": "106\n",
		"eth0/dcqcn": ecn + "roce_np/enable/3:1\n" + ecn + "roce_rp/enable/3:1\n" + ecn + "roce_np/enable/4:1\n" + ecn + "roce_rp/enable/4:1\n" +
			ecn + "roce_np/cnp_dscp:48\n" + ecn + "roce_np/cnp_802p_prio:6\n",
	})
	want.Sort()
	got.Sort()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestPacketsAreMarkedLastAndUnmarkedFirst(t *testing.T) {
	doc, _ := Write("gpu1", eth0())
	var send, undo []plan.Delta
	for _, l := range doc {
		switch l.Path[2] {
		case "mode", "tos":
			send, undo = append(send, plan.Delta{Leaf: l, Action: plan.Create}), append(undo, plan.Delta{Leaf: l, Action: plan.Delete})
		case "roce_np/cnp_dscp":
			send, undo = append(send, plan.Delta{Leaf: l, Action: plan.Update}), append(undo, plan.Delta{Leaf: l, Action: plan.Update})
		}
	}
	dir := "/sys/kernel/config/rdma_cm/mlx5_0"
	cnp := plan.Message{Op: plan.Write, Path: "/sys/class/net/eth0/ecn/roce_np/cnp_dscp", Body: "48"}
	want := []plan.Message{
		cnp,
		{Op: plan.Run, Body: "mkdir -p " + dir},
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_mode", Body: "RoCE v2"},
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_tos", Body: "106"},
	}
	if diff := cmp.Diff(want, Messages(eth0(), send, false)); diff != "" {
		t.Errorf("send (-want +got):\n%s", diff)
	}
	want = []plan.Message{
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_tos", Body: "0"}, // the kernel keeps it when the directory goes
		{Op: plan.Run, Body: "rmdir " + dir},
		cnp,
	}
	if diff := cmp.Diff(want, Messages(eth0(), undo, true)); diff != "" {
		t.Errorf("undo (-want +got):\n%s", diff)
	}
}

func TestAModuleIsReadByTheNameThatTheKernelListsItBy(t *testing.T) {
	h := &fabric.Host{Modules: []fabric.Module{{Name: "xprtrdma"}, {Name: "svcrdma"}, {Name: "ib-umad"}}}
	if diff := cmp.Diff([]string{"rpcrdma", "ib_umad"}, Modules(h)); diff != "" {
		t.Errorf("two aliases of one module are one (-want +got):\n%s", diff)
	}
	for listed, want := range map[string][]string{
		"rpcrdma 401408 0 - Live 0x0\nib_umad 1 0 - Live 0x0\n": {},
		"ib_umad 1 0 - Live 0x0\n":                              {"rpcrdma"},
		"rpcrdmax 1 0 - Live 0x0\nib_umad 1 0 - Live 0x0\n":     {"rpcrdma"},
	} {
		if diff := cmp.Diff(want, Unloaded(h, listed)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", listed, diff)
		}
	}
	if got := Load("rpcrdma"); got.Body != "modprobe rpcrdma" {
		t.Errorf("got %v", got)
	}
}
