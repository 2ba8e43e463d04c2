# profile: v1.20
# Starts kube-proxy on a Windows node.
c:\k\kube-proxy.exe --proxy-mode=kernelspace --network-name=cbr0 --feature-gates=WinDSR=true --enable-dsr=true --hostname-override=win01 --kubeconfig=c:\k\config
