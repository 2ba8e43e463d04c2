# profile: v1.20
# Starts kube-proxy on a Windows node.
$env:KUBE_NETWORK = "cbr0"
c:\k\kube-proxy.exe --proxy-mode=kernelspace --hostname-override=win01 --kubeconfig=c:\k\config
