# profile: 1.34/2022
# Starts kube-proxy on a Windows node.
c:\k\kube-proxy.exe --proxy-mode=kernelspace --network-name=cbr0 --enable-dsr=true --hostname-override=win01 --kubeconfig=c:\k\config
