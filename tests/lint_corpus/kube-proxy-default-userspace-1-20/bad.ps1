# profile: v1.20
# Starts kube-proxy on a Windows node.
c:\k\kube-proxy.exe --hostname-override=win01 --kubeconfig=c:\k\config # here
