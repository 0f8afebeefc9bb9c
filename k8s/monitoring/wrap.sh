#!/bin/sh
# Prints rules.yml as a PrometheusRule, as prometheusrule.yaml has it. With the address of your runbook, its alerts lead there:
#   k8s/monitoring/wrap.sh https://wiki.example/next-id > k8s/monitoring/prometheusrule.yaml
set -eu
cat <<'END'
# Made of rules.yml by wrap.sh: change that one.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: next-id
spec:
END
sed -e '/^#/d' -e 's/^\(.\)/  \1/' -e "s|https://runbooks\.example/next-id|${1:-https://runbooks.example/next-id}|" "$(dirname "$0")/rules.yml"
