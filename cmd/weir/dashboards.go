package main

import "github.com/spf13/cobra"

func dashboardsCommand(*console) *cobra.Command { return &cobra.Command{Use: "dashboards"} }
